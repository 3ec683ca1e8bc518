/**
 * A group of partitions whose shards a worker holds as one. With shard copies several workers hold each group, and one of
 * them answers for it (docs/design/ownership.md "Shard copies").
 */

export interface PartitionGroup {
  /** From 0. */
  readonly index: number;
  /** Groups that all partitions are divided into. */
  readonly of: number;
}

const groupPattern = /^(\d{1,4})\/(\d{1,4})$/;

/** As heartbeats and shard requests name it: `0/2`. */
export function formatGroup({ index, of }: PartitionGroup): string {
  return `${index}/${of}`;
}

/** Null for a text that `formatGroup` does not write. */
export function parseGroup(text: string): PartitionGroup | null {
  const [, index, of] = groupPattern.exec(text) ?? [];
  const group = { index: Number(index), of: Number(of) };
  return group.index < group.of ? group : null;
}

/** Partitions that follow one another. Groups differ by one partition at most. */
export function partitionsOf({ index, of }: PartitionGroup, partitionCount: number): number[] {
  const from = Math.floor((index * partitionCount) / of);
  const end = Math.floor(((index + 1) * partitionCount) / of);
  return Array.from({ length: end - from }, (_, at) => from + at);
}
