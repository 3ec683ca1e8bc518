/**
 * docs/reference/indexes-and-queries.md "Words of a field" line by line, over HTTP: languages, folding and synonyms, and that
 * changing them rebuilds the index.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { Answer } from '../support/client.ts';
import { QueryTenant } from '../support/query-tenant.ts';

const things: Readonly<Record<string, JsonObject>> = {
  a: { en: 'He runs through the house', fold: 'São Paulo' },
  b: { en: 'running shoes', fold: 'Sao Tome' },
  c: { en: 'The run', de: 'Die Häuser', fold: 'Straße' },
  d: { en: 'of the world', de: 'Haus', fr: 'les chevaux' },
  e: { plain: 'a tv', fr: 'un cheval' },
  f: { plain: 'television set', fold: 'Łódź' },
  g: { plain: 'set of a television' },
  h: { plain: 'apple phone' },
  i: { plain: 'iphone' },
};

function partsWith(more: Readonly<Record<string, JsonObject>>, synonyms: Json) {
  const names = ['en', 'de', 'fr', 'fold', 'plain'];
  return {
    indexes: {
      things: {
        triggers: { cms: ['thing'] },
        properties: Object.fromEntries(names.map((name) => [name, `{p.${name}}`])),
        index: {
          fields: Object.fromEntries(names.map((name) => [name, { type: 'text', ...more[name] }])),
          synonyms,
        },
      },
    },
  };
}

const rules = {
  en: { language: 'en' },
  de: { language: 'de' },
  fr: { language: 'fr' },
  fold: { foldAccents: true },
};
const synonyms = [['tv', 'television set'], { from: 'iphone', to: ['apple phone'] }];

const tenant = new QueryTenant('words', partsWith(rules, synonyms), things);
const ask = (body: JsonObject): Promise<Answer['json']> => tenant.good(body);

/** originIds of the results without typos, in order. */
async function found(field: string, value: string, more: JsonObject = {}): Promise<string> {
  const { results } = await ask({ search: { field, value, fuzziness: 0, ...more } });
  return results.map(({ _originId }: JsonObject) => _originId).join(' ');
}

test('search words: with a language, words with the same stem find each other, the word itself first', async () => {
  assert.equal(await found('en', 'run'), 'c b a');
  assert.equal(await found('en', 'running'), 'b c a');
  assert.equal(await found('en', 'houses'), 'a');
  assert.equal(await found('de', 'Häuser'), 'c d');
  assert.equal(await found('fr', 'cheval'), 'e d');
  assert.equal(await found('plain', 'televisions'), '');
});

test('search words: stop words are ignored in a query with other words; alone they find documents that have them', async () => {
  assert.equal(await found('en', 'the house'), 'a');
  assert.equal(await found('en', 'the house', { mode: 'all' }), 'a');
  assert.equal(await found('en', 'the running shoes', { mode: 'all' }), 'b');
  assert.equal(await found('en', 'the'), 'c d a');
  assert.equal(await found('en', 'the', { fuzziness: null }), 'c d a', 'unchanged: "He" is not a typo of it');
  assert.equal(await found('plain', 'a phone'), 'h e g', 'without a language there are no stop words');
});

test('search words: foldAccents drops accents in documents and queries', async () => {
  assert.equal(await found('fold', 'sao'), 'a b');
  assert.equal(await found('fold', 'SÃO tome', { mode: 'all' }), 'b');
  assert.equal(await found('fold', 'strasse'), 'c');
  assert.equal(await found('fold', 'straße'), 'c');
  assert.equal(await found('fold', 'lodz'), 'f');
  assert.equal(await found('en', 'Çhoes'), '');
});

test('search words: each synonym of a list finds all; several words mean the phrase', async () => {
  assert.equal(await found('plain', 'tv'), 'e f');
  assert.equal(await found('plain', 'television set', { mode: 'all' }), 'f e g');
  assert.equal(await found('plain', 'set television', { mode: 'all' }), 'f g');
  assert.equal(await found('plain', 'iphone'), 'i h');
  assert.equal(await found('plain', 'apple phone', { mode: 'all' }), 'h');
});

test('search words: matches by stem, folding or synonym are highlighted as whole words', async () => {
  const shown = async (field: string, value: string) => {
    const { results } = await ask({
      search: { field, value, fuzziness: 0 },
      highlight: {},
      sort: [{ field: '_originId' }],
    });
    return results.map(({ _highlights }: { _highlights: JsonObject }) => _highlights[field]);
  };
  assert.deepEqual(await shown('en', 'the run'), [
    'He <em>runs</em> through the house',
    '<em>running</em> shoes',
    'The <em>run</em>',
  ]);
  assert.deepEqual(await shown('fold', 'sao'), ['<em>São</em> Paulo', '<em>Sao</em> Tome']);
  assert.deepEqual(await shown('plain', 'tv'), ['a <em>tv</em>', '<em>television</em> <em>set</em>']);
});

test('search words: changing languages, folding and synonyms rebuilds the index', async () => {
  await tenant.apply(partsWith({ plain: { foldAccents: true } }, [['tv', 'iphone']]));
  const deadlineMs = performance.now() + 30_000;
  while ((await found('plain', 'tv')) !== 'i e')
    assert.ok(performance.now() < deadlineMs, 'the index follows');
  assert.equal(await found('en', 'running'), 'b');
  assert.equal(await found('fold', 'sao'), 'b');
  assert.equal(await found('plain', 'apple'), 'h');
});
