import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import { atOnce } from '../../../src/lib/pace.ts';
import type { IndexTexts, Synonym, TextRules } from '../../../src/schemas/definition/index-texts.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { Highlighter } from '../../../src/search/highlight/highlighter.ts';
import type { IndexItem } from '../../../src/search/index-item.ts';
import { mergeAnswers } from '../../../src/search/merge.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import { runs } from '../../support/runs.ts';
import { queryOf } from '../support/checks.ts';
import { naiveQuery } from '../support/naive.ts';
import { naiveMarked } from '../support/naive-highlight.ts';
import { rulesOf } from '../support/naive-search.ts';

const runCount = runs(300);

const fields: ReadonlyMap<string, FieldType> = new Map([
  ['title', 'text'],
  ['body', 'text'],
  ['tags', 'text[]'],
]);
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
    rules: new Map([...fields.keys()].flatMap((name, at) => (each[at] ? [[name, each[at]]] : []))),
    synonyms,
  }));
const item: fc.Arbitrary<JsonObject> = fc.record(
  { title: text, body: text, tags: fc.array(text, { maxLength: 3 }) },
  { requiredKeys: [] },
);
const search: fc.Arbitrary<JsonObject> = fc.record({
  fields: fc.subarray(
    [...fields.keys()].map((field) => ({ field })),
    { minLength: 1 },
  ),
  value: fc.oneof(
    text.filter((value) => value.trim() !== ''),
    fc.constantFrom('television set', 'apple phone the'),
  ),
  literal: fc.boolean(),
  mode: fc.constantFrom('any', 'all'),
  prefix: fc.boolean(),
});

test('shards search texts with languages, folding and synonyms as a scan of all items does', () => {
  fc.assert(
    fc.property(
      texts,
      fc.array(item, { maxLength: 12 }),
      fc.array(search, { minLength: 1, maxLength: 4 }),
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
          const query = queryOf(body, { fields, isOpen: false, isSchemaAlias: null });
          const answer = atOnce(
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

test('the words that such a search found are marked', () => {
  fc.assert(
    fc.property(texts, text, search, (rule, value, one) => {
      const shard = new Shard({ fields, texts: rule });
      const body = { search: one, highlight: { fields: ['title'], before: '[', after: ']' } };
      const query = queryOf(body, { fields, isOpen: false, isSchemaAlias: null });
      const highlighter = Highlighter.of(query, (field) => shard.analyzerOf(field));
      const bytes = Buffer.from(JSON.stringify({ title: value }));
      assert.ok(highlighter !== null);
      const shown = JSON.parse(atOnce(highlighter.highlighted(bytes)).toString())._highlights.title ?? value;
      const reading = { rules: rulesOf(rule, 'title'), synonyms: rule.synonyms };
      assert.equal(shown, naiveMarked(value, one as { value: string }, '[', ']', reading));
    }),
    { numRuns: runCount },
  );
});
