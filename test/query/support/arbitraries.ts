/** Items and queries of an index with a field of each type, for tests of whole clusters. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { IndexTexts } from '../../../src/schemas/definition/index-texts.ts';
import type { IndexFields } from './site.ts';

export const things: IndexFields = {
  name: 'keyword',
  title: 'text',
  intro: 'text',
  tags: 'keyword[]',
  size: 'double',
  count: 'long',
  isNew: 'boolean',
  at: 'date',
  span: 'integerRange',
  where: 'geoPoint',
  stops: 'geoPoint[]',
};
export const texts: IndexTexts = {
  rules: new Map([
    ['title', { language: 'en', foldAccents: false }],
    ['intro', { language: null, foldAccents: true }],
  ]),
  synonyms: [{ from: ['mill'], to: ['wheel', 'rad river'] }],
};
const word = fc.constantFrom(
  ...['river', 'rivers', 'revir', 'mill', 'mil', 'wheel', 'Rad', 'ünder', 'under', 'a'],
);
const place: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  [16, 48],
  { lat: -10, lon: 180 },
  { lat: 48, lon: 16.5 },
  [-180, 0],
);
const fieldsArbitrary: fc.Arbitrary<JsonObject> = fc.record(
  {
    name: word,
    title: fc.array(word, { maxLength: 4 }).map((words) => words.join(' ')),
    intro: fc.array(word, { maxLength: 2 }).map((words) => words.join(' ')),
    tags: fc.array(word, { maxLength: 3 }),
    size: fc.constantFrom(-1.5, 0, 0.5, 3, 1e9),
    count: fc.constantFrom<Json>(1, 2, '9223372036854775807', '9007199254740993'),
    isNew: fc.boolean(),
    at: fc.constantFrom('2024-01-01', '2024-01-01T00:00:00Z', '2025-05-05T05:05:05'),
    span: fc.constant({ gte: 1, lt: 5 }),
    where: place,
    stops: fc.array(place, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
export const itemsArbitrary = fc.dictionary(
  fc.integer({ min: 0, max: 60 }).map((number) => `item-${number}`),
  fieldsArbitrary,
  { maxKeys: 40 },
);

const conditionArbitrary: fc.Arbitrary<Json> = fc.oneof(
  fc.record({
    field: fc.constantFrom('name', 'tags'),
    operator: fc.constantFrom('equals', 'notEquals', 'contains'),
    value: word,
    caseInsensitive: fc.boolean(),
  }),
  fc.record({
    field: fc.constantFrom('name', 'tags'),
    operator: fc.constant('contains'),
    value: fc.constantFrom('*iv*', '*r', 'R*', '*rive*', '*'),
    caseInsensitive: fc.boolean(),
  }),
  fc.record({
    field: fc.constantFrom('name', 'tags'),
    operator: fc.constant('in'),
    value: fc.array(fc.oneof(word, fc.constant(null)), { maxLength: 3 }),
  }),
  fc.record({
    field: fc.constantFrom('size', 'count'),
    operator: fc.constantFrom('greaterThan', 'lessThanOrEquals'),
    value: fc.constantFrom(0, 1, 3),
  }),
  fc.record({
    field: fc.constantFrom('where', 'stops'),
    operator: fc.constant('withinDistance'),
    value: fc.constantFrom<Json>({ lat: 48, lon: 16, meters: 50_000 }, { lat: 0, lon: 179, meters: 2e6 }),
  }),
  fc.record({
    field: fc.constantFrom('where', 'stops'),
    operator: fc.constant('withinBox'),
    value: fc.constantFrom<Json>(
      { north: 48, south: -10, west: 16, east: 180 },
      { north: 5, south: -15, west: 170, east: -170 },
    ),
  }),
  fc.record({
    field: fc.constant('isNew'),
    operator: fc.constant('equals'),
    value: fc.constantFrom<Json>(true, null),
  }),
);
const nearArbitrary: fc.Arbitrary<Json[]> = fc.array(
  fc.record({
    field: fc.constantFrom('where', 'stops'),
    near: fc.constantFrom<Json>({ lat: 48, lon: 16 }, { lat: 0, lon: -180 }),
    order: fc.constantFrom('asc', 'desc'),
  }),
  { maxLength: 1 },
);
const sortArbitrary: fc.Arbitrary<Json[]> = fc.array(
  fc.record({
    field: fc.constantFrom(
      'name',
      'title',
      'tags',
      'size',
      'count',
      'isNew',
      'at',
      '_updatedAt',
      '_originId',
    ),
    order: fc.constantFrom('asc', 'desc'),
  }),
  { maxLength: 3 },
);
const facetArbitrary: fc.Arbitrary<Json[]> = fc.array(
  fc.record({
    field: fc.constantFrom('name', 'title', 'tags', 'size', 'count', 'isNew', 'at', 'span', 'nowhere'),
    size: fc.integer({ min: 1, max: 5 }),
    stats: fc.boolean(),
    filter: fc.boolean(),
    ranges: fc.constantFrom<Json>(null, null, [{ to: 2 }, { from: 0, to: 1e15 }], [{}]),
  }),
  { maxLength: 3 },
);
const searchArbitrary: fc.Arbitrary<JsonObject> = fc.oneof<fc.Arbitrary<JsonObject>[]>(
  fc.record({ field: fc.constant('title'), value: word, literal: fc.boolean() }),
  fc.record({
    fields: fc.constant<Json>([
      { field: 'title', weight: 0.3 },
      { field: 'intro', weight: 0.1 },
    ]),
    value: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' ')),
    mode: fc.constantFrom('any', 'all'),
    prefix: fc.boolean(),
    fuzziness: fc.constantFrom(0, 1, 2, null),
  }),
);
const intervalArbitrary: fc.Arbitrary<Json> = fc.record({
  field: fc.constant('at'),
  interval: fc.constantFrom('day', 'week', 'month', 'year'),
  stats: fc.boolean(),
});
const filtersArbitrary: fc.Arbitrary<Json> = fc
  .tuple(fc.constantFrom('and', 'or'), fc.array(conditionArbitrary, { maxLength: 2 }))
  .map(([kind, conditions]): Json => ({ [kind]: conditions }));
export const queryArbitrary: fc.Arbitrary<JsonObject> = fc.record(
  {
    filters: filtersArbitrary,
    search: searchArbitrary,
    highlight: fc.constantFrom<Json>({}, { length: 9 }, { fields: ['title'], before: '*', after: '' }, null),
    facets: fc.tuple(facetArbitrary, intervalArbitrary).map(([some, one]): Json => [...some, one]),
    distinct: fc.constantFrom('name', 'title', 'size', 'count', 'isNew', 'at', '_updatedAt'),
    distinctFacets: fc.boolean(),
    sort: fc.tuple(sortArbitrary, nearArbitrary).map(([keys, near]): Json => [...keys, ...near]),
    pagination: fc.record({
      page: fc.integer({ min: 0, max: 3 }),
      pageSize: fc.integer({ min: 0, max: 20 }),
    }),
  },
  { requiredKeys: [] },
);
