/**
 * A group of partitions whose shards a worker holds together. With shard copies, several workers hold each group, and one of
 * them answers for it (docs/design/ownership.md "Shard copies").
 */

export interface PartitionGroup {
  /** From 0. */
  readonly index: number;
  /** Number of groups of the division. */
  readonly of: number;
}

const groupPattern = /^(\d{1,4})\/(\d{1,4})$/;

/** The name of a group in heartbeats and shard requests: `0/2`. */
export function formatGroup({ index, of }: PartitionGroup): string {
  return `${index}/${of}`;
}

/** Null for a string that is not from `formatGroup`. */
export function parseGroup(text: string): PartitionGroup | null {
  const [, index, of] = groupPattern.exec(text) ?? [];
  const group = { index: Number(index), of: Number(of) };
  return group.index < group.of ? group : null;
}

/** Consecutive partitions. The sizes of groups differ by at most one. */
export function partitionsOf({ index, of }: PartitionGroup, partitionCount: number): number[] {
  const from = Math.floor((index * partitionCount) / of);
  const end = Math.floor(((index + 1) * partitionCount) / of);
  return Array.from({ length: end - from }, (_, at) => from + at);
}
