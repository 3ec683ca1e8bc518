import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  pendingSearchesMax,
  pendingSearchTermsMax,
  pendingSearchWordsMax,
} from '../../../src/contract/limits.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { plainAnalyzer } from '../../../src/search/analysis/analyzer.ts';
import type { CheckedSearch } from '../../../src/search/checked-query.ts';
import type { SearchStats } from '../../../src/search/search-stats.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import { PendingSearches } from '../../../src/search/shard/tables.ts';
import { FieldText } from '../../../src/search/text/field-text.ts';
import { WordSearch } from '../../../src/search/text/matching-terms.ts';
import { runs } from '../../support/runs.ts';
import { allTypes, changes, query } from '../support/arbitraries.ts';
import { queryOf } from '../support/checks.ts';
import { setOf } from '../support/matchers.ts';
import { searchIn } from '../support/searches.ts';
import { applyTo, withStats } from '../support/shards.ts';

test('pending searches: changes between the rounds of a search count', () => {
  fc.assert(
    fc.property(changes, changes, query, fc.boolean(), (before, between, body, hasOperators) => {
      const [asked, fresh] = [1, 2].map(() => [1, 2].map(() => new Shard({ fields: allTypes })));
      const search = { ...Object(body.search ?? { field: 'text', value: 'a' }), prefix: true };
      const first = queryOf({ ...body, search: { ...search, operators: hasOperators } });
      for (const change of before) for (const shards of [asked, fresh]) applyTo(shards ?? [], change);
      const second = withStats(asked ?? [], first);
      for (const change of between) for (const shards of [asked, fresh]) applyTo(shards ?? [], change);
      for (const [at, shard] of (asked ?? []).entries()) {
        assert.deepEqual(shard.query(second), fresh?.[at]?.query(second));
        assert.deepEqual(shard.query(second), fresh?.[at]?.query(second), 'the second time too');
      }
    }),
    { numRuns: runs(300) },
  );
});

test('pending searches: a sweep in progress continues after a partition without items is dropped', () => {
  const [asked, fresh] = [1, 2].map(() => [1, 2].map(() => new Shard({ fields: allTypes })));
  const textIn = (number: number) =>
    `x${number}q y${number}q z${number}q ${number < 1300 ? 'other' : 'common'}`;
  for (const shards of [asked, fresh]) {
    const [first, second] = shards ?? [];
    for (let number = 0; number < 1500; number += 1) first?.upsert(itemOf(number, textIn(number)));
    for (let number = 0; number < 1025; number += 1) first?.remove('s', `o${number}`);
    second?.upsert(itemOf(2000, 'common'));
  }
  const first = queryOf({ search: { field: 'text', value: 'commom' } });
  const second = withStats(asked ?? [], first);
  for (const shard of [...(asked ?? []), ...(fresh ?? [])]) runSync(shard.dropPartition(7));
  assert.equal(asked?.[0]?.query(second).total, 200);
  assert.deepEqual(
    asked?.map((shard) => shard.query(second)),
    fresh?.map((shard) => shard.query(second)),
  );
});

function itemOf(number: number, text: string): IndexItem {
  return { partition: 1, sourceId: 's', originId: `o${number}`, updatedAtMs: 1, fields: { text } };
}

const stats: SearchStats = { items: 1, fields: [{ words: 1, items: 1 }], words: [{ tier: 0, items: 1 }] };
const live = setOf([0], 1);

function lookedUp(search: CheckedSearch, text: FieldText): WordSearch {
  const fields = [{ text, analyzer: plainAnalyzer, weight: 1 }];
  const words = new WordSearch(search, fields, { live, count: 1 });
  for (const word of words.words) runSync(word.tiers());
  return words;
}

function textOf(words: readonly string[]): FieldText {
  const text = new FieldText(plainAnalyzer);
  runSync(text.add(0, [words.join(' ')]));
  return text;
}

test('pending searches: each is used once, with its statistics, and only for the same words', () => {
  const pending = new PendingSearches();
  const search = searchIn('text', 'worb');
  const words = lookedUp(search, textOf(['word']));
  pending.add(words);
  assert.equal(pending.take(search), null, 'it has no statistics');
  assert.equal(pending.take({ ...search, stats, literal: true }), null);
  assert.equal(pending.take({ ...search, stats, prefix: true }), null);
  assert.equal(pending.take({ ...search, stats, value: 'word' }), null);
  const taken = pending.take({ ...search, stats });
  assert.equal(taken?.search.stats, stats);
  assert.equal(taken.words, words.words);
  assert.equal(pending.take({ ...search, stats }), null);
});

test(`pending searches: at most ${pendingSearchesMax} of ${pendingSearchWordsMax} words and ${pendingSearchTermsMax} terms`, () => {
  const pending = new PendingSearches();
  const text = textOf(Array.from({ length: pendingSearchTermsMax + 1 }, (_, number) => `a${number}`));
  const numbers = Array.from({ length: pendingSearchWordsMax + 1 }, (_, number) => `b${number}`);
  const tooLarge = [
    searchIn('text', 'a', { prefix: true, literal: true }),
    searchIn('text', numbers.join(' '), { literal: true }),
  ];
  for (const search of tooLarge) {
    pending.add(lookedUp(search, text));
    assert.equal(pending.take({ ...search, stats }), null);
  }
  const searches = Array.from({ length: pendingSearchesMax + 1 }, (_, number) =>
    searchIn('text', `a${number}`),
  );
  for (const search of searches) pending.add(lookedUp(search, text));
  const taken = searches.map((search) => pending.take({ ...search, stats }) !== null);
  assert.deepEqual(taken, [false, ...searches.slice(1).map(() => true)]);
});
