import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import type { IndexTexts, Synonym, TextRules } from '../../../src/schemas/definition/index-texts.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { Highlighter } from '../../../src/search/highlight/highlighter.ts';
import { mergeAnswers } from '../../../src/search/merge-answers.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import { runs } from '../../support/runs.ts';
import { closedTo, queryOf } from '../support/checks.ts';
import { naiveQuery } from '../support/naive.ts';
import { naiveMarked } from '../support/naive-highlight.ts';
import { rulesOf } from '../support/naive-search.ts';
import { withStats } from '../support/shards.ts';

const runCount = runs(300);

const fields: ReadonlyMap<string, FieldType> = new Map([
  ['title', 'text'],
  ['body', 'text'],
  ['tags', 'text[]'],
  ['size', 'integer'],
  ['sizes', 'double[]'],
  ['made', 'date'],
]);
const textFields = ['title', 'body', 'tags'];
const words = [
  ...[
    'the',
    'The',
    'and',
    'der',
    'für',
    'fur',
    'les',
    'house',
    'houses',
    'housing',
    'Häuser',
    'haus',
    'hauser',
  ],
  ...[
    'chevaux',
    'cheval',
    'run',
    'running',
    'runner',
    'tv',
    'television',
    'set',
    'apple',
    'phone',
    'phones',
    'iphone',
  ],
  ...[
    'Straße',
    'strasse',
    'Łódź',
    'lodz',
    'øre',
    'ore',
    'e\u0301cole',
    'école',
    'ecole',
    '\u0301',
    '한국',
    'ﬁne',
    'Äpfel',
    'apfel',
  ],
];
const word = fc.constantFrom(...words);
const text = fc.array(word, { maxLength: 6 }).map((parts) => parts.join(' '));
const filled = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '));
const rules: fc.Arbitrary<TextRules> = fc.record({
  language: fc.constantFrom('en', 'de', 'fr', null),
  foldAccents: fc.constantFrom(true, false, 'de' as const, 'da' as const),
});
const synonym: fc.Arbitrary<Synonym> = fc.oneof(
  fc.array(filled, { minLength: 2, maxLength: 4 }).map((list) => ({ from: list, to: list })),
  fc.record({ from: fc.tuple(filled), to: fc.array(filled, { minLength: 1, maxLength: 3 }) }),
);
const texts: fc.Arbitrary<IndexTexts> = fc
  .tuple(fc.array(rules, { minLength: 3, maxLength: 3 }), fc.array(synonym, { maxLength: 3 }))
  .map(([each, synonyms]) => ({
    rules: new Map(textFields.flatMap((name, at) => (each[at] ? [[name, each[at]]] : []))),
    synonyms,
  }));
const day = fc.integer({ min: 1, max: 28 }).map((date) => `2026-02-${String(date).padStart(2, '0')}`);
const weight = fc.constantFrom(0.01, 0.5, 1, 3.7, 100);
const item: fc.Arbitrary<JsonObject> = fc.record(
  {
    title: text,
    body: text,
    tags: fc.array(text, { maxLength: 3 }),
    size: fc.integer({ min: -3, max: 1000 }),
    sizes: fc.array(fc.double({ min: -5, max: 1e6, noNaN: true }), { maxLength: 3 }),
    made: day,
  },
  { requiredKeys: [] },
);
const search: fc.Arbitrary<JsonObject> = fc.record({
  fields: fc
    .subarray(textFields, { minLength: 1 })
    .chain((names) => fc.tuple(...names.map((field) => fc.record({ field: fc.constant(field), weight })))),
  value: fc.oneof(
    text.filter((value) => value.trim() !== ''),
    fc.constantFrom('television set', 'apple phone the'),
  ),
  literal: fc.boolean(),
  mode: fc.constantFrom('any', 'all'),
  prefix: fc.boolean(),
});
const part = fc
  .tuple(fc.constantFrom('', '', '-', '"', '-"', ' - '), filled, fc.constantFrom('', '"', '" '))
  .map((parts) => parts.join(''));
const boost: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ field: fc.constantFrom('size', 'sizes'), weight }),
  fc.record({ field: fc.constant('made'), weight, origin: day, halfLife: fc.constantFrom(0.5, 7, 365) }),
);
const refined: fc.Arbitrary<JsonObject> = fc
  .tuple(
    search,
    fc.record({
      value: fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' ')),
      boost: fc.array(boost, { maxLength: 3 }),
      operators: fc.boolean(),
    }),
  )
  .map(([usual, more]) => ({ ...usual, ...more }));

test('shards: search with languages, folding and synonyms finds the same as a scan of all items', () => {
  fc.assert(
    fc.property(
      texts,
      fc.array(item, { maxLength: 12 }),
      fc.array(fc.oneof(search, refined), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(),
      (rule, made, searches, count, gone) => {
        const shards = Array.from({ length: count }, () => new Shard({ fields, texts: rule }));
        const items: IndexItem[] = [];
        for (const [at, own] of made.entries()) {
          const each = { partition: 0, sourceId: 's', originId: String(at), updatedAtMs: 1, fields: own };
          const shard = shards[at % count];
          shard?.upsert(each);
          if ((gone >>> at) & 1) shard?.remove('s', each.originId);
          else items.push(each);
        }
        for (const one of searches) {
          const body = { search: one, pagination: { pageSize: 100 } };
          const checked = queryOf(body, closedTo(fields));
          const query = withStats(shards, checked);
          const answer = runSync(
            mergeAnswers(
              query,
              shards.map((shard) => shard.query(query)),
            ),
          );
          const expected = naiveQuery(items, fields, body, rule);
          assert.deepEqual(
            answer.rows.map(({ place, score }) => [place.originId, score]),
            expected.page.map(({ item: found, score }) => [found.originId, score]),
            JSON.stringify(one),
          );
        }
      },
    ),
    { numRuns: runCount },
  );
});

test('shards: the words that such a search found are highlighted', () => {
  fc.assert(
    fc.property(texts, text, search, (rule, value, one) => {
      const shard = new Shard({ fields, texts: rule });
      const body = { search: one, highlight: { fields: ['title'], before: '[', after: ']' } };
      const query = queryOf(body, closedTo(fields));
      const highlighter = Highlighter.of(query, (field) => shard.analyzerOf(field));
      const bytes = Buffer.from(JSON.stringify({ title: value }));
      // A blank value is not a search.
      if (highlighter === null) return;
      const shown = JSON.parse(runSync(highlighter.highlighted(bytes)).toString())._highlights.title ?? value;
      const reading = { rules: rulesOf(rule, 'title'), synonyms: rule.synonyms };
      assert.equal(shown, naiveMarked(value, one as { value: string }, '[', ']', reading));
    }),
    { numRuns: runCount },
  );
});

test('shards: later pages keep their order while items come and go, because the token contains the statistics', () => {
  fc.assert(
    fc.property(
      texts,
      fc.array(item, { minLength: 3, maxLength: 12 }),
      fc.array(item, { maxLength: 6 }),
      search,
      fc.nat(),
      (rule, made, later, one, gone) => {
        const shard = new Shard({ fields, texts: rule });
        const put = (id: string, own: JsonObject) =>
          shard.upsert({ partition: 0, sourceId: 's', originId: id, updatedAtMs: 1, fields: own });
        for (const [at, own] of made.entries()) put(String(at), own);
        const query = queryOf({ search: one }, closedTo(fields));
        const { search: asked } = query;
        // A blank value is not a search.
        if (asked === null) return;
        const before = shard.query({ ...query, pageSize: 100 });
        const [first] = before.rows;
        if (first === undefined) return;
        for (const [at, own] of later.entries()) put(`new ${at}`, own);
        const isGone = (id: string) => id !== first.place.originId && ((gone >>> Number(id)) & 1) === 1;
        for (const id of made.keys()) if (isGone(String(id))) shard.remove('s', String(id));
        const pinned = {
          ...query,
          search: { ...asked, stats: before.stats },
          after: first.place,
          pageSize: 100,
        };
        const stayed = ({ place }: { place: { originId: string } }) =>
          !place.originId.startsWith('new') && !isGone(place.originId);
        assert.deepEqual(
          shard
            .query(pinned)
            .rows.filter(stayed)
            .map(({ place }) => place),
          before.rows
            .slice(1)
            .filter(stayed)
            .map(({ place }) => place),
        );
      },
    ),
    { numRuns: runCount },
  );
});
