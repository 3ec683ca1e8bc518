/** Bodies of every endpoint, valid, almost valid and invalid, as fast-check arbitraries. */
import fc from 'fast-check';
import { type Json, type JsonObject, setOwn } from '../../../src/contract/json.ts';
import { filterOperators } from '../../../src/contract/query-names.ts';
import type { RouteName } from '../../../src/http/routing/route-table.ts';
import { entityTypes, indexFields, viewIdOf } from './site.ts';
import { awkwardNumbers, awkwardTexts, prototypeNames } from './words.ts';

const sometimes = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 12, arbitrary: usual as unknown as fc.Arbitrary<Json> }, { weight: 1, arbitrary: odd });

export const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...awkwardTexts),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 8 }),
  fc.constantFrom('a', 'b', 'Paris', 'Berlin am Meer', 'the quick brown fox'),
);

/** Few distinct values, so that entities collide. */
export const originId: fc.Arbitrary<string> = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((number) => `e${number}`),
  text,
);
export const handle: fc.Arbitrary<string> = fc.oneof(
  fc.integer({ min: 0, max: 20 }).map((number) => `h${number}`),
  text,
);
export const url: fc.Arbitrary<string> = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((number) => `/p/${number}`),
  text.map((word) => `/${word}`),
  text.map((word) => `https://${word}`),
  text.map((word) => `https://www.example.com:443/${word}?q#f`),
  fc.constantFrom(
    '/',
    '//',
    '/..',
    '/%2F%zz',
    `/${'x'.repeat(4095)}`,
    `/${'x'.repeat(4096)}`,
    'http://[::1',
    '',
  ),
);

const number: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(...awkwardNumbers),
  fc.integer({ min: -5, max: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const scalar: fc.Arbitrary<Json> = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const name: fc.Arbitrary<string> = fc.oneof(fc.constantFrom('name', 'a', 'b', ...prototypeNames), text);

function objectOf(members: readonly (readonly [string, Json])[]): JsonObject {
  const object: JsonObject = {};
  for (const [member, value] of members) setOwn(object, member, value);
  return object;
}

export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(objectOf),
  ),
})).value;

const date: fc.Arbitrary<string> = fc.oneof(
  fc.date({ noInvalidDate: true }).map((moment) => moment.toISOString()),
  fc.constantFrom('2024-05-01', '2024-05-01T10:00:00', '2024-05-01T10:00:00+02:00'),
);
const range: fc.Arbitrary<Json> = fc.record(
  { gt: scalar, gte: scalar, lt: scalar, lte: scalar },
  { requiredKeys: [] },
) as fc.Arbitrary<Json>;

const propertyValues: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  title: text,
  handle,
  number: fc.oneof(number, number.map(String), text),
  flag: fc.oneof(fc.boolean(), fc.constantFrom('TRUE', 'false', 'x')),
  value: fc.oneof(scalar, date, range, fc.array(fc.oneof(scalar, date), { maxLength: 4 }), anyJson),
  list: fc.array(fc.array(fc.tuple(name, scalar), { maxLength: 3 }).map(objectOf), { maxLength: 5 }),
  nested: anyJson,
  ids: fc.oneof(fc.array(originId, { maxLength: 4 }), scalar),
  pattern: text,
  top: scalar,
  alias: fc.constantFrom('page', 'constructor', '__proto__', 'nothing'),
  related: originId,
  relatedId: fc.oneof(
    originId.map((id) => viewIdOf(id)),
    text,
  ),
};

const properties: fc.Arbitrary<Json> = fc
  .tuple(
    fc.record(
      Object.fromEntries(
        Object.entries(propertyValues).map(([member, usual]) => [member, sometimes(usual, anyJson)]),
      ),
      { requiredKeys: [] },
    ),
    fc.array(fc.tuple(fc.oneof(fc.constantFrom(...prototypeNames, 'x1', '_a'), name), anyJson), {
      maxLength: 2,
    }),
  )
  .map(([usual, more]) => objectOf([...Object.entries(usual as JsonObject), ...more]));

const entityType = sometimes(fc.constantFrom(...entityTypes), text);

/** Required members are sometimes omitted. */
function entity(withOriginId: boolean): fc.Arbitrary<Json> {
  const members = {
    ...(withOriginId ? { originId: sometimes(originId, anyJson) } : {}),
    type: sometimes(entityType, anyJson),
    properties: sometimes(properties, anyJson),
    url: sometimes(fc.option(url), anyJson),
    originParentId: sometimes(fc.option(originId), anyJson),
    redirects: sometimes(fc.array(url, { maxLength: 3 }), anyJson),
  };
  const complete: string[] = ['type', 'properties', ...(withOriginId ? ['originId'] : [])];
  return fc.oneof(
    { weight: 9, arbitrary: fc.record<JsonObject>(members as never, { requiredKeys: complete as never }) },
    { weight: 1, arbitrary: fc.record<JsonObject>(members as never, { requiredKeys: [] }) },
  ) as fc.Arbitrary<Json>;
}

const builtIn = ['_originId', '_sourceGuid', '_updatedAt', '_score', '_views'];
const autoFields = Object.keys(propertyValues);
const field: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...indexFields, ...builtIn),
  fc.constantFrom(...autoFields, ...prototypeNames),
  fc.constantFrom(...indexFields),
  text,
);
const operator = fc.constantFrom(...filterOperators);
const conditionValue: fc.Arbitrary<Json> = fc.oneof(
  scalar,
  date,
  fc.array(scalar, { maxLength: 6 }),
  text.map((word) => `*${word}*`),
);
const condition: fc.Arbitrary<Json> = fc.record<JsonObject>(
  {
    field: sometimes(field, anyJson),
    operator: sometimes(operator, anyJson),
    value: sometimes(conditionValue, anyJson),
    caseInsensitive: sometimes(fc.boolean(), anyJson),
  } as never,
  { requiredKeys: ['field', 'operator', 'value'] as never },
);
const group = (member: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof(
    fc.record<JsonObject>({ and: fc.array(member, { maxLength: 4 }) } as never),
    fc.record<JsonObject>({ or: fc.array(member, { maxLength: 4 }) } as never),
  );
const filters = sometimes(group(fc.oneof(condition, condition, group(condition))), anyJson);
const search = fc.record<JsonObject>(
  {
    field: sometimes(fc.oneof(fc.constantFrom('title', 'as_text', 'as_texts'), field), anyJson),
    value: sometimes(fc.oneof(text, fc.string({ unit: 'binary', maxLength: 260 })), anyJson),
    literal: sometimes(fc.boolean(), anyJson),
  } as never,
  { requiredKeys: ['field', 'value'] as never },
);
const facets = fc.array(
  fc.record<JsonObject>(
    {
      field: sometimes(field, anyJson),
      name: sometimes(text, anyJson),
      size: sometimes(fc.integer({ min: 1, max: 100 }), anyJson),
    } as never,
    { requiredKeys: ['field'] as never },
  ),
  { maxLength: 3 },
);
const sort = fc.array(
  fc.record<JsonObject>(
    { field: sometimes(field, anyJson), order: sometimes(fc.constantFrom('asc', 'desc'), anyJson) } as never,
    { requiredKeys: ['field'] as never },
  ),
  { maxLength: 3 },
);
const pagination = fc.record<JsonObject>(
  {
    page: sometimes(fc.integer({ min: 0, max: 12 }), anyJson),
    pageSize: sometimes(fc.integer({ min: 0, max: 1000 }), anyJson),
    nextPageToken: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: text }),
  } as never,
  { requiredKeys: [] as never },
);
const queryMembers = {
  filters,
  search: sometimes(search, anyJson),
  facets: sometimes(facets, anyJson),
  sort: sometimes(sort, anyJson),
  pagination: sometimes(pagination, anyJson),
  aliases: sometimes(fc.array(fc.constantFrom('page', 'constructor'), { maxLength: 3 }), anyJson),
};
const query: fc.Arbitrary<Json> = fc.record<JsonObject>(queryMembers as never, { requiredKeys: [] as never });
const labelledQuery: fc.Arbitrary<Json> = fc.record<JsonObject>(
  {
    ...queryMembers,
    sourceGroupAlias: sometimes(fc.constant('cms'), text),
    sourceEntityType: sometimes(fc.constantFrom('page', 'card'), text),
    name: sometimes(text, anyJson),
  } as never,
  { requiredKeys: ['sourceGroupAlias', 'sourceEntityType'] as never },
);

const originIds = fc.array(sometimes(originId, anyJson), { maxLength: 8 });
const keyList = (key: fc.Arbitrary<string>) =>
  sometimes(fc.array(sometimes(key, anyJson), { maxLength: 6 }), anyJson);

/** Possible bodies of an endpoint; null if it accepts none. */
export const bodies: Readonly<Partial<Record<RouteName, fc.Arbitrary<Json>>>> = {
  saveEntities: fc.array(entity(true), { maxLength: 6 }) as fc.Arbitrary<Json>,
  saveEntity: entity(false),
  deleteEntities: fc.record<JsonObject>({ originIds: sometimes(originIds, anyJson) } as never),
  deliverKeys: fc.record<JsonObject>(
    {
      ids: keyList(
        fc.oneof(
          originId.map((id) => viewIdOf(id)),
          text,
        ),
      ),
      handles: keyList(handle),
    } as never,
    { requiredKeys: [] as never },
  ),
  queryIndex: query,
  querySourceGroup: query,
  querySources: fc.array(labelledQuery, { maxLength: 5 }) as fc.Arbitrary<Json>,
};
