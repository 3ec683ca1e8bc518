/** Random valid queries over given data: their values, words and substrings come from the items. */
import type { Json, JsonObject } from '../../../../src/contract/json.ts';
import type { FieldType } from '../../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../../src/search/shard/doc-table.ts';
import type { Random } from '../random.ts';

export interface DataQueryOptions {
  readonly types: ReadonlyMap<string, FieldType>;
  readonly items: readonly IndexItem[];
}

const orderings = ['greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals'];
const builtInTypes = [
  ['_originId', 'keyword'],
  ['_updatedAt', 'date'],
] as const;

/** Filters, search, sort and facets; paging is left to the caller. */
export function dataQuery(random: Random, options: DataQueryOptions): JsonObject {
  const types = [...options.types];
  const sortable = types.filter(([, type]) => !/object|Range/.test(type)).map(([field]) => field);
  const searchable = types.filter(([, type]) => /[tT]ext/.test(type)).map(([field]) => field);
  const query: JsonObject = {};
  if (random.chance(0.75)) query.filters = filters(random, options);
  if (random.chance(0.35)) query.search = search(random, options, random.pick(searchable));
  if (random.chance(0.6)) {
    query.sort = Array.from({ length: random.between(1, 3) }, () => ({
      field: random.pick([...sortable, '_originId', '_updatedAt', '_sourceGuid', '_score']),
      ...(random.chance(0.7) ? { order: random.pick(['asc', 'desc']) } : {}),
    }));
  }
  if (random.chance(0.4)) {
    const fields = random.some([...options.types.keys(), '_sourceGuid'], 0.2);
    query.facets = fields.map((field) => ({ field, size: random.pick([1, 10, 37, 100]) }));
  }
  return query;
}

function filters(random: Random, options: DataQueryOptions): JsonObject {
  const [outer, inner] = random.chance(0.6) ? ['and', 'or'] : ['or', 'and'];
  const members = Array.from({ length: random.between(1, 3) }, (): Json => {
    if (random.chance(0.7)) return condition(random, options);
    return { [inner]: Array.from({ length: random.between(0, 3) }, () => condition(random, options)) };
  });
  return { [outer]: members };
}

function condition(random: Random, options: DataQueryOptions): JsonObject {
  const [field, type] = random.pick([...options.types, ...builtInTypes]);
  if (type === 'object') return { field, operator: random.pick(['equals', 'notEquals']), value: null };
  const value = someValue(random, options, field);
  const isText = /^(keyword|text)/.test(type);
  const operators = ['equals', 'notEquals', 'in'];
  if (isText || type.endsWith('[]')) operators.push('contains', 'contains');
  if (!isText && !type.startsWith('boolean') && value !== null) operators.push(...orderings, ...orderings);
  const operator = random.pick(operators);
  if (operator === 'in') {
    const others = Array.from({ length: random.below(5) }, () => someValue(random, options, field));
    return { field, operator, value: [value, ...others] };
  }
  if (!isText || typeof value !== 'string') return { field, operator, value };
  const written = operator === 'contains' ? pattern(random, value) : value;
  if (!random.chance(0.4)) return { field, operator, value: written };
  return { field, operator, value: flipped(random, written), caseInsensitive: true };
}

/** A value of the field in a random item; sometimes a value near it, or null. */
function someValue(random: Random, { items, types }: DataQueryOptions, field: string): Json {
  if (random.chance(0.05)) return null;
  const item = random.pick(items);
  if (field === '_originId') return item.originId;
  if (field === '_updatedAt') return new Date(item.updatedAtMs).toISOString();
  const value = item.fields[field] ?? null;
  if (Array.isArray(value)) return value.length === 0 ? null : random.pick(value);
  if (types.get(field)?.endsWith('Range')) return random.between(-500, 100_000);
  return typeof value === 'number' && random.chance(0.3) ? value + random.between(-3, 3) / 2 : value;
}

function flipped(random: Random, text: string): string {
  return random.chance(0.5) ? text.toUpperCase() : text.toLowerCase();
}

/** The text, or a pattern with wildcards for some of its parts. */
function pattern(random: Random, text: string): string {
  const characters = [...text];
  const from = random.below(characters.length);
  const piece = characters.slice(from, from + random.between(1, 6)).join('');
  const start = characters.slice(0, random.between(1, 3)).join('');
  return random.pick([`*${piece}*`, `${start}*`, `*${piece}`, `${start}*${piece}*`, text, `*${text}*`]);
}

function search(random: Random, options: DataQueryOptions, field: string): JsonObject {
  const words = Array.from({ length: random.between(1, 3) }, () => {
    const value = someValue(random, options, field);
    const word = random.pick(String(value ?? 'nothing').split(/[\s-]+/));
    return random.chance(0.6) ? misspelt(random, word) : word;
  });
  const value = [...words.join(' ')].slice(0, 256).join('');
  return { field, value, ...(random.chance(0.2) ? { literal: true } : {}) };
}

/** One or two edits of the word. */
function misspelt(random: Random, word: string): string {
  const letters = [...word];
  for (let edits = random.between(1, 2); edits > 0; edits -= 1) {
    const at = random.below(letters.length + 1);
    const letter = random.pick([...'aeinrstüж']);
    const [first = '', second = ''] = letters.slice(at, at + 2);
    const edit = random.pick(['insert', 'delete', 'replace', 'swap']);
    if (edit === 'insert') letters.splice(at, 0, letter);
    else if (edit === 'delete') letters.splice(at, 1);
    else if (edit === 'replace') letters.splice(at, 1, letter);
    else letters.splice(at, 2, second, first);
  }
  return letters.join('');
}
