import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import type { RowPlace } from '../../../src/search/shard-answer.ts';
import { runs } from '../../support/runs.ts';
import { allTypes, changes, item, partitionOf, query } from '../support/arbitraries.ts';
import { queryOf } from '../support/checks.ts';
import { applyTo, applyToMap, ask, assertAsScan } from '../support/shards.ts';

const runCount = runs(300);

const shardCount = fc.integer({ min: 1, max: 4 });

test('shards: every query returns the same as a scan of all items, in any distribution of the items', () => {
  fc.assert(
    fc.property(
      changes,
      fc.array(query, { minLength: 1, maxLength: 6 }),
      shardCount,
      fc.constantFrom(1, 2, 3, 1000),
      (history, bodies, count, facetGroupsMax) => {
        const shards = Array.from({ length: count }, () => new Shard({ fields: allTypes }));
        const items = new Map<string, IndexItem>();
        for (const change of history) {
          applyTo(shards, change);
          applyToMap(items, change);
        }
        assert.equal(
          shards.reduce((sum, { size }) => sum + size, 0),
          items.size,
        );
        for (const body of bodies) assertAsScan(shards, items, body, facetGroupsMax);
      },
    ),
    { numRuns: runCount },
  );
});

test('shards: pages that continue after the last row of the previous one add up to the whole order', () => {
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 30 }),
      query,
      shardCount,
      fc.integer({ min: 1, max: 5 }),
      (items, body, count, pageSize) => {
        const shards = Array.from({ length: count }, () => new Shard({ fields: allTypes }));
        for (const each of items) applyTo(shards, { kind: 'upsert', item: each });
        const whole = queryOf({ ...body, pagination: { pageSize: 1000 } });
        const expected = ask(shards, whole, 1000).rows.map(({ place }) => place);
        const paged: RowPlace[] = [];
        let after: RowPlace | null = null;
        for (;;) {
          const { rows } = ask(shards, { ...whole, pageSize, after }, 1000);
          paged.push(...rows.map(({ place }) => place));
          if (rows.length < pageSize) break;
          // A sort value crosses process boundaries and returns in a token.
          after = JSON.parse(JSON.stringify(rows.at(-1)?.place)) as RowPlace;
        }
        assert.deepEqual(paged, expected);
      },
    ),
    { numRuns: runCount },
  );
});

test('shards: a field that is added later is found in items that already had it', () => {
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 15 }),
      fc.array(query, { minLength: 1, maxLength: 4 }),
      (items, bodies) => {
        const early = new Shard({ fields: allTypes });
        const late = new Shard({ fields: new Map() });
        for (const each of items) for (const shard of [early, late]) shard.upsert(each);
        for (const [name, type] of allTypes) runSync(late.learnField(name, type));
        for (const body of bodies) {
          const asked = queryOf(body);
          assert.deepEqual(JSON.stringify(late.query(asked)), JSON.stringify(early.query(asked)));
        }
      },
    ),
    { numRuns: Math.ceil(runCount / 3) },
  );
});

test('shards: a word with almost no weight still counts as a match, in one round as in two', () => {
  const shards = Array.from({ length: 2 }, () => new Shard({ fields: allTypes }));
  const items = new Map<string, IndexItem>();
  for (const originId of ['1', '2', '3']) {
    const fields = { text: 'alphabet', keywordText: originId === '3' ? 'other' : 'two' };
    const head = { sourceId: 's-1', originId, updatedAtMs: 1 };
    const change = {
      kind: 'upsert' as const,
      item: { ...head, fields, partition: partitionOf('s-1', originId) },
    };
    applyTo(shards, change);
    applyToMap(items, change);
  }
  const weights = [
    { field: 'text', weight: Number.MIN_VALUE },
    { field: 'keywordText', weight: 1 },
  ];
  const search = { fields: weights, value: 'two alph', literal: true, prefix: true };
  assertAsScan(shards, items, { search }, 1000);
});
