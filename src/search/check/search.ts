/** Checks the search of a query, including quotes and hyphens in its value, and its highlights. */
import type { Json, JsonObject } from '../../contract/json.ts';
import { highlightShape, searchShape } from '../../contract/shapes-query.ts';
import { cutterOf, wordSequence } from '../analysis/words.ts';
import type { CheckedHighlight, CheckedSearch, SearchOperators } from '../checked-query.ts';
import type { FieldTable } from '../fields/field-table.ts';
import { checkBoost } from './boost.ts';
import { readerOf } from './members.ts';
import { type QueryErrors, quote } from './query-errors.ts';
import { checkSearchable, checkSearchFields } from './search-fields.ts';

const readSearch = readerOf(searchShape, 'near');
const readHighlight = readerOf(highlightShape, 'ignored');

/** Checks the search of a query. Null if its value is blank (docs/reference/indexes-and-queries.md "Search"). */
export function checkSearch(sent: JsonObject, table: FieldTable, errors: QueryErrors): CheckedSearch | null {
  const search = readSearch(sent, 'search', errors);
  if (search === null) return null;
  const { value: text, literal, mode, prefix, operators: hasOperators, fuzziness } = search;
  const fields = checkSearchFields(sent, search, table, errors);
  const boost = checkBoost(search.boost ?? [], table, errors);
  if (literal && fuzziness) {
    errors.add('search.fuzziness', 'a literal search allows no edits; leave out "literal", or ask for 0');
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

/** The search part of a query's identity. A search in a single field has the same identity with `field` and `fields`. */
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

/** A phrase, or a word or phrase after a hyphen at the beginning or after whitespace. */
const operator = /(^|(?<=\s))-(?:"([^"]*)"|([^\s"]+))|"([^"]*)"/gu;

/**
 * Parses the quotes and hyphens of a value (docs/reference/indexes-and-queries.md "Phrases and exclusions"). An unclosed quote
 * is a separator.
 * @param keep characters that count as letters
 * @returns the words to score, and the further requirements on items
 */
function readOperators(value: string, keep = ''): { value: string; operators: SearchOperators } {
  const hasWords = (text: string) => wordSequence(text, cutterOf(keep)).length > 0;
  const phrases = new Set<string>();
  const excluded = new Set<string>();
  let [scored, free] = ['', ''];
  let from = 0;
  for (const match of value.matchAll(operator)) {
    const [all, , excludedPhrase, excludedWord, phrase] = match;
    const before = value.slice(from, match.index);
    scored += before;
    free += `${before} `;
    from = match.index + all.length;
    if (phrase !== undefined) {
      if (hasWords(phrase)) phrases.add(phrase);
      scored += ` ${phrase} `;
      continue;
    }
    const text = excludedPhrase ?? excludedWord ?? '';
    if (hasWords(text)) excluded.add(text);
  }
  const rest = value.slice(from);
  const operators = { free: free + rest, phrases: [...phrases], excluded: [...excluded] };
  return { value: scored + rest, operators };
}

/** Checks the highlights of a query (docs/reference/indexes-and-queries.md "Highlights"). Null without a search. */
export function checkHighlight(
  sent: JsonObject,
  search: CheckedSearch | null,
  table: FieldTable,
  errors: QueryErrors,
): CheckedHighlight | null {
  const highlight = readHighlight(sent, 'highlight', errors);
  if (highlight === null) return null;
  const { fields, before, after, length } = highlight;
  const named = fields && checkNames(fields, table, errors);
  if (search === null) return null;
  return {
    fields: named ?? search.fields.map(({ field }) => field),
    before: before ?? '<em>',
    after: after ?? '</em>',
    length: length ?? null,
  };
}

function checkNames(fields: readonly Json[], table: FieldTable, errors: QueryErrors): string[] {
  const names = new Set<string>();
  for (const [at, name] of fields.entries()) {
    const place = `highlight.fields[${at}]`;
    if (typeof name !== 'string') errors.add(place, `must be a string, not ${quote(name)}`);
    else if (!names.has(name)) {
      checkSearchable(name, place, table, errors);
      names.add(name);
    }
  }
  return [...names];
}
