/**
 * Which group of partitions each worker holds. Every worker applies this to what it hears of the others, and no one leads:
 * what they knew of each other in between decides only who loads what, never what is answered. Pure.
 */
import { parseGroup } from '../../protocol/partition-group.ts';

export interface CopyHolder {
  readonly id: string;
  /** The group that it says it is to hold; null: not decided yet. */
  readonly group: string | null;
}

/** Most groups of which each has as many workers as there shall be copies; one when there are fewer workers than copies. */
export function groupsFor(workers: number, copies: number, partitionCount: number): number {
  return Math.min(partitionCount, Math.max(1, Math.floor(workers / copies)));
}

/**
 * The index of a worker's group. Groups have equally many workers, or one more; as few workers as possible change theirs.
 * @param holders all live workers with copies, this one included
 */
export function placeOf(workerId: string, holders: readonly CopyHolder[], groups: number): number {
  const sorted = [...holders].sort((a, b) => (a.id < b.id ? -1 : 1));
  const least = Math.floor(sorted.length / groups);
  let larger = sorted.length % groups;
  const counts = new Array<number>(groups).fill(0);
  const placed = new Map<string, number>();
  const place = (id: string, index: number) => {
    const count = counts[index] ?? 0;
    if (count > least || (count === least && larger === 0)) return;
    if (count === least) larger -= 1;
    counts[index] = count + 1;
    placed.set(id, index);
  };
  for (const { id, group } of sorted) {
    const held = group === null ? null : parseGroup(group);
    if (held?.of === groups) place(id, held.index);
  }
  for (const { id } of sorted) {
    if (!placed.has(id)) place(id, counts.indexOf(Math.min(...counts)));
  }
  return placed.get(workerId) ?? 0;
}
