/** docs/reference/indexes-and-queries.md "Filters" over HTTP: unknown members are rejected, and the negated operators. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { indexOfTypes, QueryTenant } from '../support/query-tenant.ts';

const things: Readonly<Record<string, JsonObject>> = {
  a: { case: 'x', title: 'Red apple', tags: ['red', 'green'], count: 1 },
  b: { case: 'y', title: 'Green pear', tags: [], count: 2 },
  c: { case: 'X', title: '', count: 3 },
  d: { title: 'apple' },
};

const tenant = new QueryTenant(
  'filters',
  {
    indexes: {
      things: indexOfTypes({ case: 'keyword', title: 'text', tags: 'keyword[]', count: 'integer' }),
    },
  },
  things,
);

async function found(query: JsonObject): Promise<string> {
  const { results } = await tenant.good({ sort: [{ field: '_originId' }], ...query });
  return results.map(({ _originId }: JsonObject) => _originId).join('');
}

const where = (field: string, operator: string, value: Json, more: JsonObject = {}): Promise<string> =>
  found({ filters: { and: [{ field, operator, value, ...more }] } });

async function queryErrors(query: Json): Promise<string> {
  const { status, json } = await tenant.ask(query);
  assert.equal(status, 400, JSON.stringify(query));
  assert.equal(json.message, 'Query is not valid');
  return json.errors.join('\n');
}

const condition = { field: 'case', operator: 'equals', value: 'x' };

test('filters: an unknown member is an error, in a group and in a condition', async () => {
  assert.match(await queryErrors({ filters: { AND: [condition] } }), /filters: .*"AND".*did you mean `and`/);
  assert.match(
    await queryErrors({ filters: { not: condition } }),
    /^filters: unknown member "not"; use and, or$/,
  );
  assert.match(await queryErrors({ filters: { and: [condition], limit: 1 } }), /filters: .*"limit"/);
  assert.match(
    await queryErrors({ filters: { and: [{ ...condition, valeu: 1 }] } }),
    /and\[0\]: .*did you mean `value`/,
  );
  assert.match(
    await queryErrors({ filters: { and: [{ not: condition }] } }),
    /and\[0\]: unknown member "not"/,
  );
  assert.match(
    await queryErrors({ filters: { and: [{ or: [condition], x: 1 }] } }),
    /and\[0\]: unknown member "x"/,
  );
  assert.match(await queryErrors({ filters: { and: [{}] } }), /and\[0\].field: is missing/);
  assert.match(await queryErrors({ filters: { and: [condition], or: [condition] } }), /both "and" and "or"/);
  assert.equal(await found({ filters: {} }), 'abcd');
  assert.equal(await found({ filters: { and: [] } }), 'abcd');
  assert.equal(await found({ filters: { and: [{ ...condition, and: null, or: null }], or: null } }), 'a');
});

test('query: a probable misspelling of a known member is an error, any other unknown member is ignored', async () => {
  assert.match(
    await queryErrors({ serach: { field: 'title', value: 'red' } }),
    /serach: .*did you mean `search`/,
  );
  assert.match(await queryErrors({ filter: { and: [condition] } }), /filter: .*did you mean `filters`/);
  assert.match(await queryErrors({ Filters: { and: [condition] } }), /did you mean `filters`/);
  assert.match(await queryErrors({ FILTERS: { and: [condition] } }), /did you mean `filters`/);
  assert.match(await queryErrors({ pagination: { pagesize: 1 } }), /pagination.pagesize: .*`pageSize`/);
  const search = { field: 'title', value: 'red' };
  assert.match(await queryErrors({ search: { ...search, fuzzines: 0 } }), /search.fuzzines: .*`fuzziness`/);
  assert.equal(
    await found({ tracking: 1, pagination: { size: 1 }, search: { ...search, comment: 'x' } }),
    'a',
  );
});

test('filters: notIn and notContains match exactly what in and contains do not, and exists matches present values', async () => {
  assert.equal(await where('case', 'notIn', ['x', 'y']), 'cd');
  assert.equal(await where('case', 'notIn', ['x', 'y'], { caseInsensitive: true }), 'd');
  assert.equal(await where('case', 'notIn', ['x', null]), 'bc');
  assert.equal(await where('count', 'notIn', '1, 2'), 'cd');
  assert.equal(await where('tags', 'notIn', ['red']), 'bcd');
  assert.equal(await where('title', 'notContains', '*apple*'), 'bc');
  assert.equal(await where('tags', 'notContains', 'gr*'), 'bcd');
  assert.equal(await where('tags', 'exists', true), 'ab');
  assert.equal(await where('title', 'exists', false), '');
  assert.equal(await where('case', 'exists', false), 'd');
  assert.match(
    await queryErrors({ filters: { and: [{ field: 'case', operator: 'exists' }] } }),
    /true or false/,
  );
  assert.match(
    await queryErrors({ filters: { and: [{ field: 'case', operator: 'notIn', value: 1 }] } }),
    /array/,
  );
});

test('search: a blank value is not a search', async () => {
  const plain = await tenant.good({});
  for (const value of ['', ' \t']) {
    assert.deepEqual(await tenant.good({ search: { field: 'title', value }, highlight: {} }), plain);
  }
});
