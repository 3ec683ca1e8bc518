import type { Json, JsonObject } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { searchCodePointsMax, searchFuzzinessMax } from '../../contract/limits.ts';
import { searchMemberNames } from '../../contract/shapes-query.ts';
import { countCodePoints } from '../../lib/code-points.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { FieldTable } from '../fields/field-table.ts';
import { checkBoost } from './boost.ts';
import { checkNearMembers } from './members.ts';
import { type Mistakes, quote } from './mistakes.ts';
import { readOperators } from './operators.ts';
import { checkSearchFields } from './search-fields.ts';

/** Checks the search of a query, null for none or a blank value (docs/reference/indexes-and-queries.md "Search"). */
export function checkSearch(search: Json, table: FieldTable, mistakes: Mistakes): CheckedSearch | null {
  if (search === null) return null;
  if (!isJsonObject(search)) {
    mistakes.add('search', `must be {"field", "value"}, not ${quote(search)}`);
    return null;
  }
  const fields = checkSearchFields(search, table, mistakes);
  const value = getOwn(search, 'value') ?? null;
  const text = checkSearchValue(value, mistakes);
  const literal = checkFlag(search, 'literal', mistakes);
  const mode = checkMode(getOwn(search, 'mode') ?? 'any', mistakes);
  const prefix = checkFlag(search, 'prefix', mistakes);
  const fuzziness = checkFuzziness(getOwn(search, 'fuzziness') ?? null, literal, mistakes);
  const boost = checkBoost(getOwn(search, 'boost') ?? null, table, mistakes);
  const hasOperators = checkFlag(search, 'operators', mistakes);
  checkNearMembers(search, searchMemberNames, 'search.', mistakes);
  if (fields === null || text === null || text.trim() === '') return null;
  const keep = keptByAll(fields, table);
  const words = hasOperators ? readOperators(text, keep) : { value: text, operators: null };
  return {
    fields,
    ...words,
    ...(keep !== '' && { keep }),
    literal,
    mode,
    prefix,
    fuzziness,
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

/** The text to search for; null when it is missing or too long. */
function checkSearchValue(value: Json, mistakes: Mistakes): string | null {
  if (typeof value !== 'string') {
    mistakes.add('search.value', value === null ? 'is missing' : `must be a string, not ${quote(value)}`);
    return null;
  }
  const length = countCodePoints(value);
  if (length <= searchCodePointsMax) return value;
  mistakes.add('search.value', `has ${length} characters; at most ${searchCodePointsMax} are allowed`);
  return null;
}

function checkFlag(search: JsonObject, name: string, mistakes: Mistakes): boolean {
  const value = getOwn(search, name) ?? false;
  if (typeof value !== 'boolean') {
    mistakes.add(`search.${name}`, `must be true or false, not ${quote(value)}`);
  }
  return value === true;
}

function checkMode(mode: Json, mistakes: Mistakes): CheckedSearch['mode'] {
  if (mode === 'any' || mode === 'all') return mode;
  mistakes.add('search.mode', `must be "any" or "all", not ${quote(mode)}`);
  return 'any';
}

function checkFuzziness(fuzziness: Json, literal: boolean, mistakes: Mistakes): number | null {
  if (fuzziness === null) return null;
  const isCount = typeof fuzziness === 'number' && Number.isInteger(fuzziness) && fuzziness >= 0;
  if (!isCount || fuzziness > searchFuzzinessMax) {
    mistakes.add('search.fuzziness', `must be 0, 1 or 2, not ${quote(fuzziness)}`);
    return null;
  }
  if (literal && fuzziness > 0) {
    mistakes.add('search.fuzziness', `a literal search allows no edits; leave out "literal", or ask for 0`);
  }
  return fuzziness;
}
