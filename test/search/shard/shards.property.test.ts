import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import { atOnce, finish } from '../../../src/lib/pace.ts';
import { checkQuery } from '../../../src/search/check/query.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { Decision } from '../../../src/search/distinct/decision.ts';
import { CountSum } from '../../../src/search/facets/count-sum.ts';
import { sharedNeeds } from '../../../src/search/facets/shared-needs.ts';
import type { IndexItem } from '../../../src/search/index-item.ts';
import { mergeAnswers, withCounts } from '../../../src/search/merge.ts';
import { populationsOf } from '../../../src/search/populations.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import type { RowPlace } from '../../../src/search/shard-answer.ts';
import { allTypes, type Change, changes, item, partitionOf, query } from '../support/arbitraries.ts';
import { naiveQuery } from '../support/naive.ts';

const runs = 300 * Number(process.env.MILLRACE_RUNS ?? 1);

function checked(body: JsonObject): CheckedQuery {
  const result = checkQuery(body, { fields: allTypes, isOpen: false, isSchemaAlias: null });
  assert.ok(result.ok, result.ok ? '' : result.errors.join('\n'));
  return result.query;
}

function applyTo(shards: readonly Shard[], change: Change): void {
  if (change.kind === 'dropPartition') {
    for (const shard of shards) finish(shard.dropPartition(change.partition));
    return;
  }
  const { sourceId, originId } = change.kind === 'upsert' ? change.item : change;
  const shard = shards[partitionOf(sourceId, originId) % shards.length];
  if (change.kind === 'upsert') shard?.upsert(change.item);
  else shard?.remove(sourceId, originId);
}

function applyToMap(items: Map<string, IndexItem>, change: Change): void {
  if (change.kind === 'upsert') {
    items.set(`${change.item.sourceId} ${change.item.originId}`, change.item);
  } else if (change.kind === 'remove') {
    items.delete(`${change.sourceId} ${change.originId}`);
  } else {
    for (const [key, { partition }] of items) if (partition === change.partition) items.delete(key);
  }
}

/** A query with `distinct` says which items stand for the values that several shards have. */
function decided(shards: readonly Shard[], query: CheckedQuery): CheckedQuery {
  const { distinct } = query;
  if (distinct === null || shards.length === 1) return query;
  const decisions = populationsOf(query).map(() => new Decision(query.sort));
  for (const shard of shards) {
    const taken = shard.firsts(query, (at, name, place) => {
      // What a shard tells crosses processes.
      const [sentName, sentPlace] = asJson([name, place]);
      decisions[at]?.take(sentName, sentPlace);
      return true;
    });
    assert.ok(finish(taken));
  }
  for (const decision of decisions) {
    for (const refs of decision.open) {
      const places: RowPlace[] = [];
      for (const shard of shards)
        finish(
          shard.places(query, refs, (place) => (place === null ? true : places.push(asJson(place)) > 0)),
        );
      decision.settle(places);
    }
  }
  return { ...query, distinct: { ...distinct, beaten: decisions.map(({ beaten }) => beaten) } };
}

/** All shards' answer to a query, with as many questions as it takes. */
function ask(shards: readonly Shard[], asked: CheckedQuery, facetGroupsMax: number) {
  const query = decided(shards, asked);
  const answers = shards.map((shard) => shard.query(query, facetGroupsMax));
  const first = atOnce(mergeAnswers(query, answers));
  const { asked: needs, placeOf } = sharedNeeds(query, first.needs);
  const counted = needs.map(({ facetIndex, values }) => {
    const sum = new CountSum();
    for (const shard of shards) {
      const { groups, scale } = shard.facetCounts(query, facetIndex, values);
      sum.add(groups, scale);
    }
    return atOnce(sum.first(100));
  });
  const counts = first.needs.map(
    ({ facetIndex }) => [facetIndex, counted[placeOf.get(facetIndex) ?? 0] ?? []] as const,
  );
  return withCounts(query, first, new Map(counts));
}

/** Facets as they stand in an answer: JSON knows one zero. */
function asJson<T>(facets: T): T {
  return JSON.parse(JSON.stringify(facets));
}

const shardCount = fc.integer({ min: 1, max: 4 });

test('shards answer every query as a scan of all items does, however the items are spread', () => {
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
        for (const body of bodies) {
          const expected = naiveQuery([...items.values()], allTypes, body);
          const answer = ask(shards, checked(body), facetGroupsMax);
          assert.equal(answer.total, expected.total);
          assert.deepEqual(
            answer.rows.map(({ place, score, updatedAtMs, fields }) => [
              place.originId,
              place.sourceId,
              score,
              updatedAtMs,
              fields,
            ]),
            expected.page.map(({ item: each, score }) => [
              each.originId,
              each.sourceId,
              score,
              each.updatedAtMs,
              JSON.parse(JSON.stringify(each.fields)),
            ]),
          );
          const asked = JSON.stringify(body.facets);
          assert.deepEqual(asJson(answer.facets), asJson(expected.facets), asked);
        }
      },
    ),
    { numRuns: runs },
  );
});

test('pages that go on behind the last row of the page before add up to the whole order', () => {
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 30 }),
      query,
      shardCount,
      fc.integer({ min: 1, max: 5 }),
      (items, body, count, pageSize) => {
        const shards = Array.from({ length: count }, () => new Shard({ fields: allTypes }));
        for (const each of items) applyTo(shards, { kind: 'upsert', item: each });
        const whole = checked({ ...body, pagination: { pageSize: 1000 } });
        const expected = ask(shards, whole, 1000).rows.map(({ place }) => place);
        const paged: RowPlace[] = [];
        let after: RowPlace | null = null;
        for (;;) {
          const { rows } = ask(shards, { ...whole, pageSize, after }, 1000);
          paged.push(...rows.map(({ place }) => place));
          if (rows.length < pageSize) break;
          // A place crosses processes and comes back out of a token.
          after = JSON.parse(JSON.stringify(rows.at(-1)?.place)) as RowPlace;
        }
        assert.deepEqual(paged, expected);
      },
    ),
    { numRuns: runs },
  );
});

test('a field that is added later is found in items that already had it', () => {
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 15 }),
      fc.array(query, { minLength: 1, maxLength: 4 }),
      (items, bodies) => {
        const early = new Shard({ fields: allTypes });
        const late = new Shard({ fields: new Map() });
        for (const each of items) for (const shard of [early, late]) shard.upsert(each);
        for (const [name, type] of allTypes) late.addField(name, type);
        for (const body of bodies) {
          const asked = checked(body);
          assert.deepEqual(JSON.stringify(late.query(asked)), JSON.stringify(early.query(asked)));
        }
      },
    ),
    { numRuns: Math.ceil(runs / 3) },
  );
});
