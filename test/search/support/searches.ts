import type { CheckedSearch } from '../../../src/search/checked-query.ts';

/** A checked search in one field, with defaults for all other options. */
export function searchIn(field: string, value: string, more: Partial<CheckedSearch> = {}): CheckedSearch {
  const usual = {
    literal: false,
    mode: 'any',
    prefix: false,
    fuzziness: null,
    boost: [],
    nowMs: null,
    operators: null,
    stats: null,
  } as const;
  return { fields: [{ field, weight: 1 }], value, ...usual, ...more };
}
