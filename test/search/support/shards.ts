/** Uses shards as workers and fronts do: applies changes, and queries in as many rounds as needed. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { type CheckedQuery, populationsOf } from '../../../src/search/checked-query.ts';
import { Decision } from '../../../src/search/distinct/decision.ts';
import { CountSum, sharedNeeds } from '../../../src/search/facets/merge.ts';
import {
  mergeAnswers,
  type PartialAnswer,
  scoredAnswers,
  withCounts,
} from '../../../src/search/merge-answers.ts';
import { packStats, sumOfStats, unpackStats } from '../../../src/search/search-stats.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import type { Shard } from '../../../src/search/shard/shard.ts';
import type { RowPlace, ShardAnswer, ShownRow } from '../../../src/search/shard-answer.ts';
import { allTypes, type Change, partitionOf } from './arbitraries.ts';
import { queryOf } from './checks.ts';
import { naiveQuery } from './naive.ts';

export function applyTo(shards: readonly Shard[], change: Change): void {
  if (change.kind === 'dropPartition') {
    for (const shard of shards) runSync(shard.dropPartition(change.partition));
    return;
  }
  const { sourceId, originId } = change.kind === 'upsert' ? change.item : change;
  const shard = shards[partitionOf(sourceId, originId) % shards.length];
  if (change.kind === 'upsert') shard?.upsert(change.item);
  else shard?.remove(sourceId, originId);
}

export function applyToMap(items: Map<string, IndexItem>, change: Change): void {
  if (change.kind === 'upsert') {
    items.set(`${change.item.sourceId} ${change.item.originId}`, change.item);
  } else if (change.kind === 'remove') {
    items.delete(`${change.sourceId} ${change.originId}`);
  } else {
    for (const [key, { partition }] of items) if (partition === change.partition) items.delete(key);
  }
}

/** Adds the statistics of all shards, which scoring needs if there are several. */
export function withStats(shards: readonly Shard[], query: CheckedQuery): CheckedQuery {
  const { search } = query;
  if (search === null || search.stats !== null || shards.length === 1) return query;
  const parts = shards.map((shard) => runSync(shard.unscored(query, 1)).stats);
  const sum = sumOfStats(parts.map((stats) => unpackStats(asJson(packStats(stats)))));
  return { ...query, search: { ...search, stats: sum } };
}

/** If few items match, the first round is enough. Asserts that it gives the same result as two rounds. */
function assertSameInOneRound(
  shards: readonly Shard[],
  asked: CheckedQuery,
  query: CheckedQuery,
  facetGroupsMax: number,
  answers: readonly ShardAnswer[],
): void {
  if (query === asked || asked.search === null) return;
  const first = shards.map((shard) => runSync(shard.unscored(asked, facetGroupsMax)));
  const scored = scoredAnswers(query, first);
  if (scored === null) return;
  const rowsOf = (parts: readonly PartialAnswer<ShownRow>[]) =>
    runSync(mergeAnswers(query, parts)).rows.map(({ place, score, updatedAtMs, fieldsBytes }) => {
      return { place, score, updatedAtMs, fields: fieldsBytes.toString() };
    });
  assert.deepEqual(rowsOf(scored), rowsOf(answers));
  for (const [at, { total, facets }] of scored.entries()) {
    assert.deepEqual({ total, facets }, { total: answers[at]?.total, facets: answers[at]?.facets });
  }
}

/** Decides which items represent `distinct` values that several shards have. */
function decided(shards: readonly Shard[], query: CheckedQuery): CheckedQuery {
  const { distinct } = query;
  if (distinct === null || shards.length === 1) return query;
  const decisions = populationsOf(query).map(() => new Decision(query.sort));
  for (const shard of shards) {
    const taken = shard.firsts(query, (at, name, place) => {
      // Shard replies cross process boundaries.
      const [sentName, sentPlace] = asJson([name, place]);
      decisions[at]?.take(sentName, sentPlace);
      return true;
    });
    assert.ok(runSync(taken));
  }
  for (const decision of decisions) {
    for (const refs of decision.open) {
      const places: RowPlace[] = [];
      for (const shard of shards)
        runSync(
          shard.places(query, refs, (place) => (place === null ? true : places.push(asJson(place)) > 0)),
        );
      decision.settle(places);
    }
  }
  return { ...query, distinct: { ...distinct, beaten: decisions.map(({ beaten }) => beaten) } };
}

/** The merged answer of all shards to a query, in as many rounds as needed. */
export function ask(shards: readonly Shard[], asked: CheckedQuery, facetGroupsMax: number) {
  const query = decided(shards, withStats(shards, asked));
  const answers = shards.map((shard) => shard.query(query, facetGroupsMax));
  assertSameInOneRound(shards, asked, query, facetGroupsMax, answers);
  const first = runSync(mergeAnswers(query, answers));
  const { asked: needs, placeOf } = sharedNeeds(query, first.needs);
  const counted = needs.map(({ facetIndex, values }) => {
    const sum = new CountSum();
    for (const shard of shards) {
      const { groups, scale } = runSync(shard.counts(query, facetIndex, values));
      sum.add(groups, scale);
    }
    return runSync(sum.first(100));
  });
  const counts = first.needs.map(
    ({ facetIndex }) => [facetIndex, counted[placeOf.get(facetIndex) ?? 0] ?? []] as const,
  );
  return withCounts(query, first, new Map(counts));
}

/** Compares the answer of the shards with a naive scan of all items. */
export function assertAsScan(
  shards: readonly Shard[],
  items: ReadonlyMap<string, IndexItem>,
  body: JsonObject,
  facetGroupsMax: number,
): void {
  const expected = naiveQuery([...items.values()], allTypes, body);
  const answer = ask(shards, queryOf(body), facetGroupsMax);
  assert.equal(answer.total, expected.total);
  assert.deepEqual(
    answer.rows.map(({ place, score, updatedAtMs, fieldsBytes }) => [
      place.originId,
      place.sourceId,
      score,
      updatedAtMs,
      JSON.parse(fieldsBytes.toString()),
    ]),
    expected.page.map(({ item, score }) => [
      item.originId,
      item.sourceId,
      score,
      item.updatedAtMs,
      JSON.parse(JSON.stringify(item.fields)),
    ]),
  );
  assert.deepEqual(asJson(answer.facets), asJson(expected.facets), JSON.stringify(body.facets));
}

/** Converts like a response: JSON has only one zero. */
export function asJson<T>(facets: T): T {
  return JSON.parse(JSON.stringify(facets));
}
