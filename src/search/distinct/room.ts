import { distinctCellsMax } from '../../contract/limits.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { valuesSentMax } from './sent-place.ts';

/**
 * Values that a query with `distinct` may find, over all populations and shards. Several shards send and compare them.
 * One shard is held to the same, so that the number of shards does not show.
 */
export function distinctValuesMax({ sort }: CheckedQuery): number {
  return Math.floor(distinctCellsMax / (1 + Math.min(sort.length, valuesSentMax)));
}
