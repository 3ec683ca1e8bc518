/** Checks the search of a query: its fields, the quotes and hyphens of its value, its boosts and its highlights. */
import type { Json, JsonObject } from '../../contract/json.ts';
import { boostShape, highlightShape, searchFieldShape, searchShape } from '../../contract/shapes-query.ts';
import { cutterOf } from '../analysis/words.ts';
import type { CheckedBoost, CheckedHighlight, CheckedSearch, SearchOperators } from '../checked-query.ts';
import { parseDateText } from '../fields/date-text.ts';
import { type FieldTable, isNumeric, traitsOf } from '../fields/field-type.ts';
import { isSent, type Members, readerOf } from './members.ts';
import { describeField, distinctTexts, namedField, type QueryErrors, quote } from './query-errors.ts';

const readSearch = readerOf(searchShape, 'near');
const readHighlight = readerOf(highlightShape, 'near');

/** Checks the search of a query. Null if its value is blank (docs/reference/indexes-and-queries.md "Search"). */
export function checkSearch(sent: JsonObject, table: FieldTable, errors: QueryErrors): CheckedSearch | null {
  const search = readSearch(sent, 'search', errors);
  if (search === null) return null;
  const { value: text, literal, mode, prefix, operators: hasOperators, fuzziness } = search;
  const fields = checkSearchFields(sent, search, table, errors);
  const boost = checkBoosts(search.boost ?? [], table, errors);
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
function readOperators(value: string, keep: string): { value: string; operators: SearchOperators } {
  const cutter = cutterOf(keep);
  const hasWords = (text: string) => cutter.cut(text).length > 0;
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

type SearchField = CheckedSearch['fields'][number];

const readSearchField = readerOf(searchFieldShape, 'near');

/** Means all text fields that are not named in `fields`. */
const everyText = '*';

/** The fields of a search: `field`, or `fields` with their weights. @returns null if they are missing or invalid */
function checkSearchFields(
  sent: Json,
  { field = null, fields = null }: Members<typeof searchShape>,
  table: FieldTable,
  errors: QueryErrors,
): SearchField[] | null {
  if (!isSent(sent, 'fields')) {
    if (!isSent(sent, 'field')) errors.add('search.field', 'is missing');
    if (field === null) return null;
    return expanded(searchField(field, 'search.field', table, errors, 1), new Set(), table);
  }
  if (field !== null) errors.add('search', 'has both "field" and "fields"; use one of them');
  if (field !== null || fields === null) return null;
  if (fields.length === 0) errors.add('search.fields', 'must list at least one field');
  return checkList(fields, table, errors);
}

function checkList(fields: readonly Json[], table: FieldTable, errors: QueryErrors): SearchField[] | null {
  const checked: SearchField[] = [];
  const seen = new Set<string>();
  for (const [at, entry] of fields.entries()) {
    const place = `search.fields[${at}]`;
    const { field: name, weight } = readSearchField(entry, place, errors) ?? {};
    if (typeof name !== 'string') continue;
    checked.push(searchField(name, `${place}.field`, table, errors, weight ?? 1));
    if (seen.has(name)) errors.add(`${place}.field`, `${quote(name)} is named twice`);
    seen.add(name);
  }
  if (checked.length < fields.length || checked.length === 0) return null;
  return checked.flatMap((one) => expanded(one, seen, table));
}

/**
 * The fields that an entry includes. An open table may have no text field yet: then `*` is treated as a field that no item has.
 */
function expanded(entry: SearchField, named: ReadonlySet<string>, table: FieldTable): SearchField[] {
  if (entry.field !== everyText) return [entry];
  const texts = textFields(table);
  if (texts.length === 0) return [entry];
  return texts.filter((field) => !named.has(field)).map((field) => ({ ...entry, field }));
}

/** Sorted, because scores are sums over the fields and must be the same everywhere. */
function textFields({ fields }: FieldTable): string[] {
  const names = [...fields].filter(([, type]) => traitsOf(type).isSearchable).map(([name]) => name);
  return names.sort();
}

function searchField(
  field: string,
  place: string,
  table: FieldTable,
  errors: QueryErrors,
  weight: number,
): SearchField {
  const hasTexts = field === everyText && textFields(table).length > 0;
  if (!hasTexts) checkSearchable(field, place, table, errors);
  return { field, weight };
}

function checkSearchable(field: string, place: string, table: FieldTable, errors: QueryErrors): void {
  const named = namedField(field, place, table, errors);
  if (named === null || (named.kind === 'field' && named.traits.isSearchable)) return;
  const type = named.kind === 'field' ? describeField(named) : 'built in';
  errors.add(place, `search needs a field of type text or text[]; ${quote(field)} is ${type}`);
}

const readBoost = readerOf(boostShape, 'near');

/** Checks the boosts of a search (docs/reference/indexes-and-queries.md "Boosts"). */
function checkBoosts(boosts: readonly Json[], table: FieldTable, errors: QueryErrors): CheckedBoost[] {
  return boosts.flatMap((one, at) => checkBoost(one, `search.boost[${at}]`, table, errors) ?? []);
}

function checkBoost(sent: Json, place: string, table: FieldTable, errors: QueryErrors): CheckedBoost | null {
  const boost = readBoost(sent, place, errors);
  if (boost === null) return null;
  const { field, weight, halfLife, origin } = boost;
  const originMs = checkOrigin(origin ?? null, `${place}.origin`, errors);
  if (typeof field !== 'string') return null;
  checkBoostField(field, sent, place, table, errors);
  return { field, weight: weight ?? 1, halfLifeDays: halfLife ?? null, originMs };
}

function checkBoostField(
  field: string,
  boost: Json,
  place: string,
  table: FieldTable,
  errors: QueryErrors,
): void {
  const named = namedField(field, `${place}.field`, table, errors);
  if (named === null) return;
  const traits = named.kind === 'field' ? named.traits : null;
  const isList = traits?.shape === 'scalar' || traits?.shape === 'list';
  if (traits === null || !isList || !isNumeric(traits.kind)) {
    const needed = 'a boost needs a field of numbers or dates';
    errors.add(`${place}.field`, `${needed}; ${quote(field)} is ${describeField(named)}`);
    return;
  }
  const isDate = traits.kind === 'date';
  if (isDate && !isSent(boost, 'halfLife')) {
    errors.add(
      `${place}.halfLife`,
      'is missing; a field of dates needs the days after which a boost is half',
    );
  }
  for (const name of ['halfLife', 'origin']) {
    if (!isDate && isSent(boost, name))
      errors.add(`${place}.${name}`, `is for fields of dates; ${quote(field)} has numbers`);
  }
}

function checkOrigin(origin: string | null, place: string, errors: QueryErrors): number | null {
  if (origin === null) return null;
  const ms = parseDateText(origin);
  if (ms === null) errors.add(place, `must be a date as ISO 8601 text, not ${quote(origin)}`);
  return ms;
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
  const isChecked = (name: string, place: string) => {
    checkSearchable(name, place, table, errors);
    return true;
  };
  const named = fields && distinctTexts(fields, 'highlight.fields', errors, isChecked);
  if (search === null) return null;
  return {
    fields: named ?? search.fields.map(({ field }) => field),
    before: before ?? '<em>',
    after: after ?? '</em>',
    length: length ?? null,
  };
}
