/** Finds the replies of workers that make a whole answer. */
import type { Coverage } from '../protocol/shard-reply.ts';

export interface CoveringReply {
  readonly workerId: string;
  readonly covers: Coverage;
}

/**
 * The replies that together cover every partition exactly once, or null when they do not (yet).
 *
 * A reply counts only as a whole, because its rows are not told apart by partition. If a newer owner answered for one
 * of its partitions too, the whole reply is left out: its worker has lost a lease and does not know it yet.
 */
export function completeCover<Reply extends CoveringReply>(
  replies: readonly Reply[],
  partitionCount: number,
): Reply[] | null {
  const [first] = replies;
  if (replies.length === 1 && first?.covers.size === partitionCount) return [first];
  const newestEpochs = new Map<number, number>();
  for (const { covers } of replies) {
    for (const [partition, epoch] of covers) {
      if (epoch > (newestEpochs.get(partition) ?? 0)) newestEpochs.set(partition, epoch);
    }
  }
  if (newestEpochs.size < partitionCount) return null;
  const current = replies.filter(({ covers }) =>
    [...covers].every(([partition, epoch]) => newestEpochs.get(partition) === epoch),
  );
  const useful = current.filter(({ covers }) => covers.size > 0);
  const covered = new Set(useful.flatMap(({ covers }) => [...covers.keys()]));
  const count = useful.reduce((sum, { covers }) => sum + covers.size, 0);
  return covered.size === partitionCount && count === partitionCount ? useful : null;
}
