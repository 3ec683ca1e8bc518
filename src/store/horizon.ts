/**
 * How new a thing that was read can be. A change and its announcement are one script, so whoever reads a partition and
 * then the number of its last announcement knows: nothing that was read is newer than that.
 */
import type { FieldReader, HashField } from './field-reader.ts';
import { keys, type Partitions, tagOf } from './keys.ts';

/** Partition -> number of an announcement in its changes. */
export type Horizon = ReadonlyMap<number, number>;

/** The horizon of fields that have been read. @throws StoreUnavailableError */
export async function readHorizon(
  { fields, partitions }: { readonly fields: FieldReader; readonly partitions: Partitions },
  places: readonly HashField[],
): Promise<Horizon> {
  const tags = [...new Set(places.map(({ key }) => tagOf(key)))];
  const numbers = await fields.read(tags.map((tag) => ({ key: keys.clock(tag), field: 'changes' })));
  return new Map(tags.map((tag, index) => [partitions.tags.indexOf(tag), Number(numbers[index] ?? 0)]));
}
