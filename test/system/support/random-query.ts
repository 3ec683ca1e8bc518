/** Random things to index, and random valid queries over them. Values come from small sets, so that queries match. */
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { Random } from './random.ts';

/** Fields of the index schema, each mapped from the property of the same name. */
export const indexTypes: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ['name', 'keyword'],
  ['title', 'text'],
  ['tags', 'keyword[]'],
  ['phrases', 'text[]'],
  ['size', 'double'],
  ['sizes', 'double[]'],
  ['count', 'long'],
  ['isNew', 'boolean'],
  ['at', 'date'],
  ['span', 'integerRange'],
  ['extra', 'object'],
]);

/** The types that auto-indexing gives the same properties. */
export const autoTypes: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ['name', 'keywordText'],
  ['title', 'keywordText'],
  ['tags', 'keywordText[]'],
  ['phrases', 'keywordText[]'],
  ['size', 'double'],
  ['sizes', 'double[]'],
  ['count', 'double'],
  ['isNew', 'boolean'],
  ['at', 'date'],
  ['span', 'object'],
  ['extra', 'object'],
]);

const words = [
  'river',
  'rivers',
  'revir',
  'mill',
  'mil',
  'Mill',
  'wheel',
  'whele',
  'Rad',
  'ünder',
  'a',
  'naïve',
  '日本',
  'stone',
];
const tags = ['red', 'Red', 'green', 'blue', 'bluest', 'grün'];
const dates = [
  '2024-01-01',
  '2024-02-29T12:30:00',
  '2024-02-29T12:30:00.123Z',
  '2025-05-05T05:05:05+02:00',
  '1969-12-31',
];

function phrase(random: Random, most: number): string {
  return Array.from({ length: random.between(1, most) }, () => random.pick(words)).join(' ');
}

/** Any of the properties may be missing. */
export function randomThing(random: Random): JsonObject {
  const all: JsonObject = {
    name: `${random.pick(words)}-${random.below(40)}`,
    title: phrase(random, 5),
    tags: [random.pick(tags), ...random.some(tags, 0.3)],
    phrases: [phrase(random, 3), ...(random.chance(0.5) ? [phrase(random, 2)] : [])],
    size: random.between(-20, 400) / 4,
    sizes: [random.below(10), ...random.some([1.5, 7, -3], 0.5)],
    count: random.below(25),
    isNew: random.chance(0.5),
    at: random.pick(dates),
    span: random.pick<Json>([{ gte: 1, lt: 5 }, { gt: 3, lte: 10 }, { lt: 2 }]),
    extra: { depth: { x: random.below(3) } },
  };
  return Object.fromEntries(Object.entries(all).filter(() => random.chance(0.9)));
}

function valueFor(random: Random, type: string): Json {
  switch (type.replace('[]', '')) {
    case 'keyword':
    case 'text':
    case 'keywordText':
      return random.pick([...words, ...tags, `${random.pick(words)}-${random.below(40)}`, phrase(random, 2)]);
    case 'boolean':
      return random.chance(0.5);
    case 'date':
      return random.pick<Json>([...dates, 1_704_067_200_000]);
    default:
      return random.pick([0, 1, 3, 7, 1.5, -3, 20.25, random.below(25)]);
  }
}

const orderings = ['greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals'];

function condition(random: Random, types: ReadonlyMap<string, FieldType>): JsonObject {
  const [field, type] = random.pick([...types]);
  const value = random.chance(0.1) ? null : valueFor(random, type);
  if (type === 'object') return { field, operator: random.pick(['equals', 'notEquals']), value: null };
  const isText = /^(keyword|text)/.test(type);
  const operators = ['equals', 'notEquals', 'in'];
  if (isText) operators.push('contains', 'contains');
  else if (type !== 'boolean' && value !== null) operators.push(...orderings);
  const operator = random.pick(operators);
  if (operator === 'in') {
    return { field, operator, value: [value, valueFor(random, type), valueFor(random, type)] };
  }
  const fold = isText && random.chance(0.4) ? { caseInsensitive: true } : {};
  if (operator !== 'contains') return { field, operator, value, ...fold };
  const piece = random.pick(['riv', 'ill', 'r', 'ü', 'E', '-1', 'a']);
  return { field, operator, value: random.pick([`*${piece}*`, `${piece}*`, `*${piece}`, '*']), ...fold };
}

function filters(random: Random, types: ReadonlyMap<string, FieldType>): JsonObject {
  const [outer, inner] = random.chance(0.5) ? ['and', 'or'] : ['or', 'and'];
  const members = Array.from({ length: random.between(1, 3) }, (): Json => {
    if (random.chance(0.75)) return condition(random, types);
    return { [inner]: Array.from({ length: random.between(0, 3) }, () => condition(random, types)) };
  });
  return { [outer]: members };
}

/** A valid query object, as it is sent. */
export function randomQuery(random: Random, types: ReadonlyMap<string, FieldType>): JsonObject {
  const names = [...types.keys()];
  const isSortable = (name: string) => !/object|Range/.test(types.get(name) ?? '');
  const searchable = names.filter((name) => /[tT]ext/.test(types.get(name) ?? ''));
  const query: JsonObject = {};
  if (random.chance(0.7)) query.filters = filters(random, types);
  if (random.chance(0.2)) {
    query.search = {
      field: random.pick(searchable),
      value: phrase(random, 3),
      ...(random.chance(0.3) ? { literal: true } : {}),
    };
  }
  if (random.chance(0.6)) {
    const sortable = [...names.filter(isSortable), '_updatedAt', '_originId'];
    query.sort = Array.from({ length: random.between(1, 2) }, () => ({
      field: random.pick(sortable),
      ...(random.chance(0.7) ? { order: random.pick(['asc', 'desc']) } : {}),
    }));
  }
  if (random.chance(0.5)) {
    query.facets = random.some(names.filter(isSortable), 0.3).map((field) => ({
      field,
      name: `by ${field}`,
      size: random.pick([1, 3, 10, 100]),
    }));
  }
  query.pagination = { page: random.below(3), pageSize: random.pick([0, 1, 7, 50, 1000]) };
  return query;
}
