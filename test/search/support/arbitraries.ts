/** Random indexes, items and queries. Values come from small sets, so that they match each other. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';

const scalarTypes = [
  'keyword',
  'text',
  'keywordText',
  'integer',
  'long',
  'float',
  'double',
  'boolean',
  'date',
] as const;
const rangeTypes = ['integerRange', 'longRange', 'floatRange', 'doubleRange', 'dateRange'] as const;

/** One field of each type, named like its type. */
export const allTypes: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ...scalarTypes.map((type): [string, FieldType] => [type, type]),
  ...scalarTypes.map((type): [string, FieldType] => [`${type}[]`, `${type}[]`]),
  ...rangeTypes.map((type): [string, FieldType] => [type, type]),
  ['geoPoint', 'geoPoint'],
  ['geoPoint[]', 'geoPoint[]'],
  ['object', 'object'],
  ['__proto__', 'keyword'],
]);

const words = [
  'cafe',
  'café',
  'Cafe',
  'caef',
  'São',
  'paulo',
  'Paolo',
  'münchen',
  'Muenchen',
  'munchen',
  'a',
  'ab',
  'ba',
];
const oddWords = [
  'x1',
  '中文',
  '𝒜lpha',
  'ﬁne',
  'ÉCOLE',
  'école',
  'Ⅷ',
  'naïve',
  '😀',
  '\uffee',
  'İ',
  'ΟΔΟΣ',
  'abcdefgh',
  'abdcefgh',
];
const word = fc.constantFrom(...words, ...oddWords);
export const text = fc.array(word, { maxLength: 4 }).map((parts) => parts.join(' '));
/** Sometimes with unpaired surrogates, which JSON can contain. */
const anyText = fc.oneof(
  { weight: 6, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc.string({
      unit: fc.constantFrom('a', 'b', '*', '\ud83d', '\ude00', '😀', '\uffff'),
      maxLength: 4,
    }),
  },
);
const integer = fc.oneof(fc.integer({ min: -3, max: 5 }), fc.constantFrom(2147483647, -2147483648));
const fraction = fc.constantFrom(-2.5, -1, -0.1, 0, 0.1, 0.25, 1, 1.5, 2, 3, 1e10, -0);
const long: fc.Arbitrary<Json> = fc.oneof(
  integer,
  fc.constantFrom(
    '9007199254740993',
    '9007199254740992',
    '9007199254740991',
    '-9223372036854775808',
    '3',
    '-2',
  ),
  fc.constantFrom('9223372036854775807', '9223372036854775806', 9007199254740992, 2 ** 62),
);
const date: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  '2024-01-01',
  '2024-01-01T00:00:00Z',
  '2024-01-01T01:00:00+01:00',
  '2024-02-29T12:30:00',
  '2024-02-29T12:30:00.123Z',
  '1969-12-31T23:59:59.999Z',
  1704067200000,
  0,
  -1,
  1.5e12,
);

const scalars: Record<string, fc.Arbitrary<Json>> = {
  keyword: anyText,
  text: anyText,
  keywordText: anyText,
  integer,
  long,
  float: fraction,
  double: fraction,
  boolean: fc.boolean(),
  date,
};

const latitude = fc.constantFrom(-90, -33.9, 0, 12.5, 48.1, 55.7, 90);
const longitude = fc.constantFrom(-180, -70.6, 0, 9.2, 12.6, 151.2, 180);
export const geoPlace = fc.record({ lat: latitude, lon: longitude });
const geoPoint: fc.Arbitrary<Json> = fc.oneof(
  geoPlace.map(({ lat, lon }): Json => ({ lat, lon })),
  geoPlace.map(({ lat, lon }): Json => [lon, lat]),
);

function range(bound: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const ends = fc.tuple(fc.constantFrom('gt', 'gte', null), bound, fc.constantFrom('lt', 'lte', null), bound);
  return ends
    .filter(([low, , high]) => low !== null || high !== null)
    .map(([low, from, high, to]) => ({ ...(low && { [low]: from }), ...(high && { [high]: to }) }));
}

function valuesOf(type: FieldType): fc.Arbitrary<Json> {
  if (type === 'object') return fc.constantFrom<Json>({ a: 1 }, [{ b: 2 }]);
  if (type === 'geoPoint') return geoPoint;
  if (type === 'geoPoint[]') return fc.array(geoPoint, { maxLength: 3 });
  if (type.endsWith('Range')) return range(scalars[type.slice(0, -5)] ?? fraction);
  const scalar = scalars[type.replace('[]', '')] ?? anyText;
  return type.endsWith('[]') ? fc.array(scalar, { maxLength: 4 }) : scalar;
}

export const fields: fc.Arbitrary<JsonObject> = fc
  .tuple(
    ...[...allTypes].map(([name, type]) =>
      fc.option(valuesOf(type).map((value): [string, Json] => [name, value])),
    ),
  )
  .map((entries) => Object.fromEntries(entries.filter((entry) => entry !== null)) as JsonObject);

const originId = fc.constantFrom('1', '2', '3', '10', 'a', 'b', '😀', '\uffff', 'é', 'constructor');
const sourceId = fc.constantFrom('s-1', 's-2', 's-3');
export const partitions = 6;

export function partitionOf(sourceOf: string, originOf: string): number {
  let hash = 7;
  for (const char of sourceOf + originOf) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 10007;
  return hash % partitions;
}

export const item: fc.Arbitrary<IndexItem> = fc
  .record({ sourceId, originId, updatedAtMs: fc.integer({ min: 1, max: 4 }), fields })
  .map((parts) => ({ ...parts, partition: partitionOf(parts.sourceId, parts.originId) }));

export type Change =
  | { readonly kind: 'upsert'; readonly item: IndexItem }
  | { readonly kind: 'remove'; readonly sourceId: string; readonly originId: string }
  | { readonly kind: 'dropPartition'; readonly partition: number };

export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: item.map((each): Change => ({ kind: 'upsert', item: each })) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), sourceId, originId }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('dropPartition' as const),
        partition: fc.integer({ min: 0, max: partitions - 1 }),
      }),
    },
  ),
  { minLength: 1, maxLength: 40 },
);

const names = [...allTypes.keys()];
const filterable = [...names, '_originId', '_sourceGuid', '_updatedAt'];
const sortable = filterable.filter((name) => !/^object|^geoPoint|Range$/.test(name));
const distinguishable = sortable.filter((name) => !name.endsWith('[]'));
const searchable = ['text', 'text[]', 'keywordText', 'keywordText[]'];

function typeOf(name: string): FieldType {
  if (name === '_updatedAt') return 'date';
  return allTypes.get(name) ?? 'keyword';
}

function scalarOf(name: string): fc.Arbitrary<Json> {
  const scalar = typeOf(name).replace('[]', '').replace('Range', '');
  if (name === '_originId') return originId;
  if (name === '_sourceGuid') return sourceId;
  if (name === '_updatedAt') return fc.integer({ min: 0, max: 5 });
  return scalars[scalar] ?? anyText;
}

const pattern = fc
  .array(fc.oneof(word, fc.constantFrom('*', '**', 'a', 'A', 'é', ' ', '\ud83d', '😀')), { maxLength: 5 })
  .map((parts) => parts.join(''));
const misfits: readonly Json[] = ['no such value', 12345.678, true, '1'];

/** A value of another type. A string on a numeric or boolean field is parsed as one, or is an error. */
function misfitOf(type: FieldType): fc.Arbitrary<Json> {
  const isReadText = /^(integer|long|float|double|boolean)/.test(type);
  return fc.constantFrom(...misfits.filter((value) => !isReadText || typeof value !== 'string'));
}

const circle: fc.Arbitrary<Json> = fc
  .tuple(geoPlace, fc.constantFrom(0, 1e5, 1.5e6, 7e6, 3e7))
  .map(([place, meters]): Json => ({ ...place, meters }));
const box: fc.Arbitrary<Json> = fc.tuple(geoPlace, geoPlace).map(([a, b]): Json => {
  return { north: Math.max(a.lat, b.lat), south: Math.min(a.lat, b.lat), west: a.lon, east: b.lon };
});

function condition(): fc.Arbitrary<JsonObject> {
  return fc.constantFrom(...filterable).chain((field) => {
    const type = typeOf(field);
    const value = fc.oneof(
      { weight: 8, arbitrary: scalarOf(field) },
      { weight: 1, arbitrary: misfitOf(type) },
    );
    const orNull = fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) });
    const caseInsensitive = fc.constantFrom<Json>(true, false, null);
    const make = (operator: string, values: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> =>
      fc.record({
        field: fc.constant(field),
        operator: fc.constant(operator),
        value: values,
        caseInsensitive,
      });
    if (type === 'object')
      return fc.oneof(make('equals', fc.constant(null)), make('notEquals', fc.constant(null)));
    if (type.startsWith('geoPoint')) {
      return fc.oneof(
        make('equals', fc.constant(null)),
        make('notEquals', fc.constant(null)),
        make('withinDistance', circle),
        make('withinBox', box),
      );
    }
    const kinds = [
      make('equals', orNull),
      make('notEquals', orNull),
      make('in', fc.array(orNull, { maxLength: 4 })),
      make('notIn', fc.array(orNull, { maxLength: 4 })),
      make('exists', fc.boolean()),
    ];
    const isText = /^(keyword|text)/.test(type);
    if (isText) kinds.push(make('contains', pattern), make('notContains', pattern));
    else if (type.endsWith('[]')) kinds.push(make('contains', value), make('notContains', value));
    if (/^(integer|long|float|double|date)/.test(type)) {
      const comparable = /^(date)/.test(type) ? date : fc.oneof(scalarOf(field), fraction);
      for (const operator of ['greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals']) {
        kinds.push(make(operator, comparable));
      }
    }
    return fc.oneof(...kinds);
  });
}

const other = { and: 'or', or: 'and' } as const;
const filters: fc.Arbitrary<Json> = fc.constantFrom('and' as const, 'or' as const).chain((kind) => {
  const inner = fc
    .array(condition(), { maxLength: 3 })
    .map((nodes): JsonObject => ({ [other[kind]]: nodes }));
  const member = fc.oneof({ weight: 3, arbitrary: condition() }, { weight: 1, arbitrary: inner });
  return fc.array(member, { maxLength: 3 }).map((nodes): JsonObject => ({ [kind]: nodes }));
});

const searchedFields = fc.oneof(
  fc.record({ field: fc.constantFrom(...searchable) }),
  fc.record({
    fields: fc.uniqueArray(
      fc.record({
        field: fc.constantFrom(...searchable),
        weight: fc.constantFrom<Json>(null, 1, 0.1, 2, 7.7),
      }),
      { minLength: 1, maxLength: 3, selector: ({ field }) => field },
    ),
  }),
);

const search: fc.Arbitrary<Json> = fc
  .tuple(
    searchedFields,
    fc.record(
      {
        value: text,
        literal: fc.constantFrom<Json>(true, false, null),
        mode: fc.constantFrom<Json>('any', 'all', null),
        prefix: fc.constantFrom<Json>(true, false, null),
        fuzziness: fc.constantFrom<Json>(0, 1, 2, null),
      },
      { requiredKeys: ['value'] },
    ),
  )
  .map(([where, how]): JsonObject => ({ ...where, ...how }))
  .map((made) => (made.literal === true ? { ...made, fuzziness: null } : made));

const sort: fc.Arbitrary<Json> = fc.array(
  fc.record({
    field: fc.constantFrom(...sortable, '_score'),
    order: fc.constantFrom<Json>('asc', 'desc', null),
  }),
  { maxLength: 3 },
);

const nearKey: fc.Arbitrary<Json> = fc.record({
  field: fc.constantFrom('geoPoint', 'geoPoint[]'),
  near: geoPlace.map((place): Json => ({ ...place })),
  order: fc.constantFrom<Json>('asc', 'desc', null),
});
const sortOrNear = fc
  .tuple(sort, fc.option(nearKey, { freq: 1 }), fc.boolean())
  .map(([keys, near, isFirst]): Json => {
    if (near === null) return keys;
    const others = keys as Json[];
    return isFirst ? [near, ...others] : [...others, near];
  });

const rangeEnds = { date, long } as const;

function ranges(field: string): fc.Arbitrary<Json> {
  const kind = typeOf(field).replace('[]', '');
  const end = fc.option(kind === 'date' || kind === 'long' ? rangeEnds[kind] : fraction, { freq: 3 });
  const range = fc.tuple(end, end, fc.constantFrom<Json>(null, 'some')).map(([one, other, name]): Json => {
    const inOrder = one === null || other === null || placeOf(kind, one) <= placeOf(kind, other);
    return inOrder ? { from: one, to: other, name } : { from: other, to: one, name };
  });
  return fc.array(range, { maxLength: 5 });
}

/** A number that sorts like a date or a number as it may be sent. */
function placeOf(kind: string, value: Json): number | bigint {
  if (kind !== 'date') return typeof value === 'string' ? BigInt(value) : Number(value);
  return typeof value === 'string' && value.includes('T') && !/(Z|\+01:00)$/.test(value)
    ? Date.parse(`${value}Z`)
    : new Date(value as string | number).getTime();
}

const facet: fc.Arbitrary<Json> = fc
  .constantFrom(...filterable.filter((name) => name !== '_updatedAt'))
  .chain((field) =>
    fc
      .record({
        size: fc.constantFrom(1, 2, 3, 10, 100),
        stats: fc.constantFrom<Json>(true, true, false, null),
        groups: fc.constantFrom('values', 'ranges', 'interval'),
        ranges: ranges(field),
        interval: fc.constantFrom('day', 'week', 'month', 'year'),
        filter: fc.constantFrom<Json>(false, false, true, null),
      })
      .map(({ groups, ranges: asked, interval, ...others }): JsonObject => {
        const grouping = groups === 'ranges' ? { ranges: asked } : groups === 'interval' ? { interval } : {};
        return { field, ...others, ...grouping };
      }),
  );

const plainFacet: fc.Arbitrary<Json> = fc.record({
  field: fc.constantFrom(...filterable.filter((name) => name !== '_updatedAt')),
  size: fc.constantFrom(1, 2, 3, 10, 100),
});

const facets: fc.Arbitrary<Json> = fc.array(fc.oneof(plainFacet, facet), { maxLength: 3 });

/** Valid query objects, as they are sent. */
export const query: fc.Arbitrary<JsonObject> = fc.record({
  filters: fc.option(filters),
  search: fc.option(search, { freq: 2 }),
  sort: fc.option(sortOrNear, { freq: 2 }),
  distinct: fc.option(fc.constantFrom(...distinguishable), { freq: 1 }),
  distinctFacets: fc.constantFrom<Json>(true, false, null),
  facets: fc.option(facets, { freq: 3 }),
  pagination: fc.record({ page: fc.integer({ min: 0, max: 2 }), pageSize: fc.integer({ min: 0, max: 7 }) }),
});
