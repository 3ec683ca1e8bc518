/** Which workers hold copies of which groups of partitions, as their heartbeats say. Pure. */
import { formatGroup, parseGroup } from '../protocol/partition-group.ts';

/** The workers that hold each group, in the order of the groups; none of them is empty. */
export type GroupHolders<Worker> = readonly (readonly Worker[])[];

/**
 * The division of all partitions by which most workers answer; of two, the one with fewer groups, because a query asks a
 * worker of each. Null when no division has a worker for each of its groups: without shard copies, and while they load.
 */
export function groupHolders<Worker extends { readonly groups: readonly string[] }>(
  workers: readonly Worker[],
): GroupHolders<Worker> | null {
  const divisions = new Set(
    workers.flatMap(({ groups }) => groups.flatMap((name) => parseGroup(name)?.of ?? [])),
  );
  let best: GroupHolders<Worker> | null = null;
  for (const of of [...divisions].sort((a, b) => a - b)) {
    const holders = Array.from({ length: of }, (_, index) => {
      const name = formatGroup({ index, of });
      return workers.filter(({ groups }) => groups.includes(name));
    });
    const isWhole = holders.every(({ length }) => length > 0);
    if (isWhole && (best === null || countOf(holders) > countOf(best))) best = holders;
  }
  return best;
}

function countOf(holders: GroupHolders<unknown>): number {
  return new Set(holders.flat()).size;
}
