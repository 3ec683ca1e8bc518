/** docs/reference/indexes-and-queries.md "Search" over HTTP: words of texts as people write them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/contract/json.ts';
import { QueryTenant } from '../support/query-tenant.ts';

const titles = {
  alert: '⚠️Achtung Stufe',
  plane: '✈️NY',
  love: '❤️Love Paris',
  sun: '☀️ Sun',
  phone: '☎️030123',
  step: '1️⃣ Schritt',
  soft: 'Ge\u00adsamt\u00adkon\u00adzept',
  persian: 'می\u200cخواهم',
  joined: 'foo\u2060bar',
  marked: '\ufeffStart',
  lego: 'Lego™ Duplo',
  first: '①Anfang',
  tokyo: '東京都の観光案内',
  chinese: '我喜欢自然语言处理',
  thai: 'ภาษาไทยอ่านยาก',
  gas: 'ガス',
  bread: 'パン',
  hindi: 'हिंदी',
  koeln: 'Köln',
  aarhus: 'Århus',
  aeroe: 'Ærø',
};
const folds: Readonly<Record<string, JsonObject>> = {
  plain: {},
  fold: { foldAccents: true },
  de: { foldAccents: 'de' },
  da: { foldAccents: 'da' },
};

const tenant = new QueryTenant(
  'real-texts',
  {
    indexes: {
      things: {
        triggers: { cms: ['thing'] },
        properties: Object.fromEntries(Object.keys(folds).map((name) => [name, '{p.title}'])),
        index: {
          fields: Object.fromEntries(
            Object.entries(folds).map(([name, more]) => [name, { type: 'text', ...more }]),
          ),
        },
      },
    },
  },
  Object.fromEntries(Object.entries(titles).map(([id, title]) => [id, { title }])),
);

async function rows(field: string, value: string): Promise<JsonObject[]> {
  const { results } = await tenant.good({
    search: { field, value, literal: true },
    highlight: {},
    sort: [{ field: '_originId' }],
  });
  return results;
}

async function found(value: string, field = 'plain'): Promise<string> {
  return (await rows(field, value)).map(({ _originId }) => _originId).join(' ');
}

async function shown(value: string): Promise<string> {
  const [row] = await rows('plain', value);
  return ((row?._highlights as JsonObject | undefined)?.plain as string | undefined) ?? '';
}

test('emoji with variation selectors and enclosing marks leave the words beside them alone', async () => {
  assert.equal(await found('achtung'), 'alert');
  assert.equal(await found('ny'), 'plane');
  assert.equal(await found('030123'), 'phone');
  assert.equal(await found('1'), 'step');
  assert.equal(await found('❤️'), '', 'a selector alone is no word');
  assert.equal(await shown('achtung'), '⚠️<em>Achtung</em> Stufe');
});

test('soft hyphens and joiners are within words, and highlights mark the text as it is', async () => {
  assert.equal(await found('gesamtkonzept'), 'soft');
  assert.equal(await shown('gesamtkonzept'), '<em>Ge\u00adsamt\u00adkon\u00adzept</em>');
  assert.equal(await found('میخواهم'), 'persian');
  assert.equal(await found('می\u200cخواهم'), 'persian');
  assert.equal(await found('foobar'), 'joined');
  assert.equal(await found('start'), 'marked');
});

test('signs that NFKC makes letters of are not part of words', async () => {
  assert.equal(await found('lego'), 'lego');
  assert.equal(await found('legotm'), '');
  assert.equal(await found('anfang'), 'first');
});

test('a word in the middle of a sentence without spaces is found', async () => {
  assert.equal(await found('観光'), 'tokyo');
  assert.equal(await found('東京'), 'tokyo');
  assert.equal(await found('语言'), 'chinese');
  assert.equal(await found('ไทย'), 'thai');
  assert.equal(await shown('観光'), '東京都の<em>観光</em>案内');
});

test('foldAccents drops marks of letters that keep their sense without them alone', async () => {
  assert.equal(await found('カス', 'fold'), '');
  assert.equal(await found('ハン', 'fold'), '');
  assert.equal(await found('हद', 'fold'), '');
  assert.equal(await found('ガス', 'fold'), 'gas');
  assert.equal(await found('koln', 'fold'), 'koeln');
  assert.equal(await found('koeln', 'fold'), '');
});

test('foldAccents "de" and "da" write umlauts out', async () => {
  for (const field of ['de', 'da']) {
    assert.equal(await found('koeln', field), 'koeln');
    assert.equal(await found('köln', field), 'koeln');
    assert.equal(await found('aarhus', field), 'aarhus');
    assert.equal(await found('aeroe', field), 'aeroe');
  }
});
