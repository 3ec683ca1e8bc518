/**
 * How new a thing that was read can be. A change and its announcement are one script. So when a reader asks for the number
 * of the last announcement after its read, nothing that it read is newer than that.
 */

import { keys, tagOf } from '../keys.ts';
import type { HashField } from '../redis/field-reader.ts';
import type { Store } from '../store.ts';

/** Partition -> number of an announcement in its changes. */
export type HighWaterMark = ReadonlyMap<number, number>;

/**
 * The high-water mark of fields that have been read. On one Redis a commit moves claims of any partition and announces them
 * in its own, so all partitions are asked there. @throws StoreUnavailableError
 */
export async function readHighWaterMark(
  { fields, partitions, address }: Pick<Store, 'fields' | 'partitions' | 'address'>,
  places: readonly HashField[],
): Promise<HighWaterMark> {
  const ofPlaces = new Set(places.map(({ key }) => tagOf(key)));
  const tags = address.kind === 'single' ? partitions.tags : [...ofPlaces];
  const numbers = await fields.read(tags.map((tag) => ({ key: keys.clock(tag), field: 'changes' })));
  return new Map(tags.map((tag, index) => [partitions.tags.indexOf(tag), Number(numbers[index] ?? 0)]));
}
