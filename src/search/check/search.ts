import type { JsonObject } from '../../contract/json.ts';
import { searchShape } from '../../contract/shapes-query.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { FieldTable } from '../fields/field-table.ts';
import { checkBoost } from './boost.ts';
import { readerOf } from './members.ts';
import type { Mistakes } from './mistakes.ts';
import { readOperators } from './operators.ts';
import { checkSearchFields } from './search-fields.ts';

const readSearch = readerOf(searchShape, 'near');

/** Checks the search of a query, null for a blank value (docs/reference/indexes-and-queries.md "Search"). */
export function checkSearch(sent: JsonObject, table: FieldTable, mistakes: Mistakes): CheckedSearch | null {
  const search = readSearch(sent, 'search', mistakes);
  if (search === null) return null;
  const { value: text, literal, mode, prefix, operators: hasOperators, fuzziness } = search;
  const fields = checkSearchFields(sent, search, table, mistakes);
  const boost = checkBoost(search.boost ?? [], table, mistakes);
  if (literal && fuzziness) {
    mistakes.add('search.fuzziness', 'a literal search allows no edits; leave out "literal", or ask for 0');
  }
  if (fields === null || typeof text !== 'string' || text.trim() === '') return null;
  const keep = keptByAll(fields, table);
  const words = hasOperators ? readOperators(text, keep) : { value: text, operators: null };
  return {
    fields,
    ...words,
    ...(keep !== '' && { keep }),
    literal: literal ?? false,
    mode: mode ?? 'any',
    prefix: prefix ?? false,
    fuzziness: fuzziness ?? null,
    boost,
    nowMs: null,
    stats: null,
  };
}

function keptByAll(fields: CheckedSearch['fields'], { rules }: FieldTable): string {
  const [first = '', ...others] = fields.map(({ field }) => rules?.get(field)?.keep ?? '');
  return Array.from(first)
    .filter((character) => others.every((kept) => kept.includes(character)))
    .join('');
}

/** The part of a query's identity that its search is. A search of one field is known by what it says itself. */
export function searchIdentity(search: CheckedSearch): object {
  const { fields, value, literal, mode, prefix, fuzziness, boost, operators } = search;
  const [only] = fields;
  const named = fields.length === 1 && only?.weight === 1 ? { field: only.field } : { fields };
  const ranked = {
    ...named,
    ...(boost.length > 0 && { boost: boost.map((one) => ({ ...one })) }),
    ...(operators !== null && { operators: { ...operators } }),
  };
  const isUsual = mode === 'any' && !prefix && fuzziness === null;
  return isUsual ? { ...ranked, literal, value } : { ...ranked, fuzziness, literal, mode, prefix, value };
}
