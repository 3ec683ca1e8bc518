/** Which partitions a worker should own: an even share, with as few moves as possible. Pure. */

export interface AssignmentView {
  readonly workerId: string;
  /** Ids of the workers that live, this one included. */
  readonly liveWorkerIds: readonly string[];
  /** Owner of each partition, or null when nobody's lease holds. */
  readonly owners: readonly (string | null)[];
}

export interface AssignmentStep {
  readonly take: readonly number[];
  readonly release: readonly number[];
}

/**
 * Every worker applies this to what it sees; no one leads. A worker above its share gives back, one below takes what
 * is free, so the workers converge on an even spread whatever they knew of each other in between.
 */
export function nextStep({ workerId, liveWorkerIds, owners }: AssignmentView): AssignmentStep {
  const ids = [...new Set([...liveWorkerIds, workerId])].sort();
  const share = shareOf(ids.indexOf(workerId), ids.length, owners.length);
  const own = owners.flatMap((owner, partition) => (owner === workerId ? [partition] : []));
  if (own.length > share) return { take: [], release: own.slice(share) };
  const free = owners.flatMap((owner, partition) => (owner === null ? [partition] : []));
  return { take: free.slice(0, share - own.length), release: [] };
}

function shareOf(rank: number, workers: number, partitions: number): number {
  return Math.floor(partitions / workers) + (rank < partitions % workers ? 1 : 0);
}
