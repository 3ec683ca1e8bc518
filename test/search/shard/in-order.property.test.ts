import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import { scansPerSort } from '../../../src/search/sort/sorted-docs.ts';
import { runs } from '../../support/runs.ts';
import { closedTo, queryOf } from '../support/checks.ts';
import { naiveQuery } from '../support/naive.ts';

const runCount = runs(300);
const types: ReadonlyMap<string, FieldType> = new Map([
  ['integer', 'integer'],
  ['long', 'long'],
  ['double', 'double'],
  ['date', 'date'],
  ['keyword', 'keyword'],
]);

const value: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  integer: fc.integer({ min: -3, max: 3 }),
  long: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom('9007199254740993', '9007199254740992')),
  double: fc.constantFrom(-2.5, -0, 0, 0.1, 1, 1e10),
  date: fc.constantFrom('2024-01-01', '2024-02-29T12:30:00Z', 0, -1),
  keyword: fc.constantFrom('a', 'b'),
};

const item: fc.Arbitrary<IndexItem> = fc
  .record({
    originId: fc.integer({ min: 1, max: 40 }).map(String),
    updatedAtMs: fc.integer({ min: 1, max: 4 }),
    fields: fc.record(value, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>,
  })
  .map((parts) => ({ ...parts, sourceId: 's', partition: 0 }));

const operator = fc.constantFrom(
  'equals',
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
);

const numbers = ['integer', 'long', 'double', 'date', '_updatedAt'] as const;

/** Bounds on a number, sorted by it, sometimes with further clauses. */
const query: fc.Arbitrary<JsonObject> = fc.constantFrom(...numbers).chain((field) => {
  const asked = value[field] ?? fc.integer({ min: 0, max: 5 });
  const condition = fc.record({ field: fc.constant(field), operator, value: asked });
  const other = fc.constant({ field: 'keyword', operator: 'equals', value: 'a' });
  const order = fc.constantFrom('asc', 'desc');
  const key = fc.record({ field: fc.constant(field), order });
  const next = fc.record({ field: fc.constantFrom('keyword', 'integer', '_originId'), order });
  return fc.record({
    filters: fc.option(
      fc.record({
        and: fc.array(fc.oneof({ weight: 8, arbitrary: condition }, { weight: 1, arbitrary: other }), {
          maxLength: 2,
        }),
      }),
    ),
    sort: fc.tuple(key, next).chain((both) => fc.constantFrom(both.slice(0, 1), both)),
    pagination: fc.record({
      pageSize: fc.integer({ min: 0, max: 7 }),
      page: fc.integer({ min: 0, max: 3 }),
    }),
  }) as fc.Arbitrary<JsonObject>;
});

const rules = closedTo(types);

/** Scans until the sorted order that the query can use is due. */
function wear(shard: Shard, query: CheckedQuery): void {
  for (let asked = 0; asked < scansPerSort; asked += 1) shard.query(query);
}

test('in order: pages of numbers in their order equal those of a scan, however the numbers changed in between', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.array(item, { maxLength: 15 }), query), { minLength: 1, maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 40 }).map(String), { maxLength: 6 }),
      (turns, gone) => {
        const shard = new Shard({ fields: types });
        const items = new Map<string, IndexItem>();
        const ordered = new Set<string>();
        for (const [changes, body] of turns) {
          for (const change of changes) {
            shard.upsert(change);
            items.set(change.originId, change);
          }
          const left = gone.pop() ?? '';
          shard.remove('s', left);
          items.delete(left);
          const expected = naiveQuery([...items.values()], types, body);
          const asked = queryOf(body, rules);
          const [{ field = '' } = {}] = asked.sort;
          if (!ordered.has(field)) wear(shard, asked);
          ordered.add(field);
          const answer = shard.query(asked);
          assert.equal(answer.total, expected.total);
          const ids = expected.rows.map(({ item: each }) => each.originId);
          const end = asked.pageSize === 0 ? 0 : asked.offset + asked.pageSize;
          assert.deepEqual(
            answer.rows.map(({ place }) => place.originId),
            ids.slice(0, end),
          );
          const last = answer.rows.at(-1);
          if (last === undefined) continue;
          const further = shard.query({ ...asked, offset: 0, after: last.place });
          assert.deepEqual(
            further.rows.map(({ place }) => place.originId),
            ids.slice(end, end + asked.pageSize),
          );
        }
      },
    ),
    { numRuns: runCount },
  );
});

test('in order: a page of thousands of numbers is found while many of them change', () => {
  const shard = new Shard({ fields: types });
  const items = new Map<string, IndexItem>();
  const put = (id: number, double: number | null) => {
    const one = { originId: String(id), sourceId: 's', partition: 0, updatedAtMs: 1, fields: { double } };
    shard.upsert(one);
    items.set(one.originId, one);
  };
  for (let id = 0; id < 3000; id += 1) put(id, (id * 7919) % 1000);
  for (let round = 0; round < 12; round += 1) {
    const bounds = [
      { field: 'double', operator: 'greaterThan', value: 100 + round * 10 },
      { field: 'double', operator: 'lessThan', value: 700 },
    ];
    const sort = [{ field: 'double', order: round % 2 === 0 ? 'asc' : 'desc' }];
    const body = { filters: { and: bounds }, sort, pagination: { pageSize: 25 } };
    const expected = naiveQuery([...items.values()], types, body);
    wear(shard, queryOf(body, rules));
    const answer = shard.query(queryOf(body, rules));
    assert.equal(answer.total, expected.total);
    assert.deepEqual(
      answer.rows.map(({ place }) => place.originId),
      expected.page.map(({ item: each }) => each.originId),
    );
    for (let change = 0; change < 150; change += 1) {
      const id = (round * 150 + change) * 7 + round;
      put(id % 3200, change % 10 === 0 ? null : (id * 31) % 1000);
    }
  }
});
