import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import { runs } from '../../support/runs.ts';
import { closedTo, queryOf } from '../support/checks.ts';
import { naiveQuery } from '../support/naive.ts';

const fields = new Map<string, FieldType>([
  ['rare', 'keyword'],
  ['common', 'keyword'],
  ['size', 'integer'],
  ['title', 'text'],
]);

/** So many that a condition met by one doc in a hundred is not searched by a full scan. */
const itemCount = 600;

function itemOf(number: number): IndexItem {
  const at = (number * 7919) % itemCount;
  return {
    partition: 0,
    sourceId: 's',
    originId: String(number),
    updatedAtMs: number,
    fields: { rare: `r${at % 100}`, common: `c${at % 3}`, size: at % 11, title: `word${at % 5}` },
  };
}

const rare = fc.nat(120).map((number) => ({ field: 'rare', operator: 'equals', value: `r${number}` }));
const common = fc.nat(3).map((number) => ({ field: 'common', operator: 'equals', value: `c${number}` }));
const size = fc.nat(11).map((value) => ({ field: 'size', operator: 'greaterThan', value }));
const condition = fc.oneof(rare, common, size);
const group = fc.array(condition, { maxLength: 3 });
const filters = fc.oneof(
  fc.record({ and: fc.array(fc.oneof(condition, fc.record({ or: group })), { maxLength: 4 }) }),
  fc.record({ or: fc.array(fc.oneof(condition, fc.record({ and: group })), { maxLength: 4 }) }),
);
const search = fc.constantFrom({}, { search: { field: 'title', value: 'word1' } });

test('conditions that few docs meet: combinations equal those of a scan of all items', () => {
  const shard = new Shard({ fields });
  const items = Array.from({ length: itemCount }, (_, number) => itemOf(number));
  for (const item of items) shard.upsert(item);
  for (const item of items.splice(0, 50)) shard.remove(item.sourceId, item.originId);
  fc.assert(
    fc.property(filters, search, (group, searched) => {
      const body = { filters: group, ...searched } as JsonObject;
      const { total, rows } = shard.query(queryOf(body, closedTo(fields)));
      const expected = naiveQuery(items, fields, body);
      assert.equal(total, expected.total);
      assert.deepEqual(
        rows.map(({ place, score }) => [place.originId, score]),
        expected.page.map(({ item, score }) => [item.originId, score]),
      );
    }),
    { numRuns: runs(500) },
  );
});
