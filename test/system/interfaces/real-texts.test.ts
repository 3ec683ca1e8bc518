/** docs/reference/indexes-and-queries.md "Search" over HTTP: words in real-world texts. */
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
  lao: 'ຂ້ອຍຮັກພາສາລາວ',
  khmer: 'ខ្ញុំស្រលាញ់ភាសាខ្មែរ',
  burmese: 'မြန်မာဘာသာစကားကိုလေ့လာပါ',
  gas: 'ガス',
  bread: 'パン',
  hindi: 'हिंदी',
  koeln: 'Köln',
  aarhus: 'Århus',
  aeroe: 'Ærø',
  stressed: 'Bǿnder på Ǻen, Lǖ',
  cpp: 'C++ for beginners',
  csharp: 'C# in depth',
  markup:
    '<p>chimi<b>changas</b>&nbsp;and Caf&eacute;</p><p>end</p>next<strong>x</strong><script>var y = 0</script><template>hid</template>',
};
const folds: Readonly<Record<string, JsonObject>> = {
  plain: {},
  fold: { foldAccents: true },
  de: { foldAccents: 'de' },
  da: { foldAccents: 'da' },
  kept: { keep: '+#' },
  html: { format: 'html', foldAccents: true },
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

async function shown(value: string, field = 'plain'): Promise<string> {
  const [row] = await rows(field, value);
  return ((row?._highlights as JsonObject | undefined)?.[field] as string | undefined) ?? '';
}

test('real texts: emoji with variation selectors and enclosing marks do not affect adjacent words', async () => {
  assert.equal(await found('achtung'), 'alert');
  assert.equal(await found('ny'), 'plane');
  assert.equal(await found('030123'), 'phone');
  assert.equal(await found('1'), 'step');
  assert.equal(await found('❤️'), '', 'a variation selector alone is not a word');
  assert.equal(await shown('achtung'), '⚠️<em>Achtung</em> Stufe');
});

test('real texts: soft hyphens and joiners are inside words, and highlights mark the original text', async () => {
  assert.equal(await found('gesamtkonzept'), 'soft');
  assert.equal(await shown('gesamtkonzept'), '<em>Ge\u00adsamt\u00adkon\u00adzept</em>');
  assert.equal(await found('میخواهم'), 'persian');
  assert.equal(await found('می\u200cخواهم'), 'persian');
  assert.equal(await found('foobar'), 'joined');
  assert.equal(await found('start'), 'marked');
});

test('real texts: signs that NFKC turns into letters are not part of words', async () => {
  assert.equal(await found('lego'), 'lego');
  assert.equal(await found('legotm'), '');
  assert.equal(await found('anfang'), 'first');
});

test('real texts: a word in the middle of a sentence without spaces is found', async () => {
  assert.equal(await found('観光'), 'tokyo');
  assert.equal(await found('東京'), 'tokyo');
  assert.equal(await found('语言'), 'chinese');
  assert.equal(await found('ไทย'), 'thai');
  assert.equal(await found('ພາສາ'), 'lao');
  assert.equal(await found('ស្រលាញ់'), 'khmer');
  assert.equal(await found('စကား'), 'burmese');
  assert.equal(await shown('観光'), '東京都の<em>観光</em>案内');
});

test('real texts: foldAccents drops only marks whose letters keep their meaning', async () => {
  assert.equal(await found('カス', 'fold'), '');
  assert.equal(await found('ハン', 'fold'), '');
  assert.equal(await found('हद', 'fold'), '');
  assert.equal(await found('ガス', 'fold'), 'gas');
  assert.equal(await found('koln', 'fold'), 'koeln');
  assert.equal(await found('koeln', 'fold'), '');
});

test('real texts: foldAccents "de" and "da" expand umlauts', async () => {
  for (const field of ['de', 'da']) {
    assert.equal(await found('koeln', field), 'koeln');
    assert.equal(await found('köln', field), 'koeln');
    assert.equal(await found('aarhus', field), 'aarhus');
    assert.equal(await found('aeroe', field), 'aeroe');
    for (const word of ['boender', 'bønder', 'aaen', 'lue']) {
      assert.equal(await found(word, field), 'stressed', 'other marks change nothing');
    }
  }
});

test('keep: its characters count as letters of that field, in texts, queries and highlights', async () => {
  assert.equal(await found('c'), 'cpp csharp');
  assert.equal(await found('c', 'kept'), '');
  assert.equal(await found('C++', 'kept'), 'cpp');
  assert.equal(await found('c#', 'kept'), 'csharp');
  assert.equal(await found('c++'), 'cpp csharp', 'another field reads the same query as it reads texts');
  assert.equal(await shown('c++', 'kept'), '<em>C++</em> for beginners');
  const search = { value: '"c++ for" -depth', operators: true };
  const both = { fields: [{ field: 'plain' }, { field: 'kept' }] };
  assert.equal((await tenant.good({ search: { ...search, field: 'kept' } })).totalResults, 1);
  assert.equal((await tenant.good({ search: { ...search, ...both } })).totalResults, 1);
  const all = { ...both, value: 'c# depth', mode: 'all', literal: true };
  const { results } = await tenant.good({ search: all });
  assert.deepEqual(
    results.map(({ _originId }: JsonObject) => _originId),
    ['csharp'],
  );
});

test('html: tags are not words, entities are decoded, and highlights are of the text without tags', async () => {
  for (const word of ['strong', 'nbsp', 'eacute', 'var', 'hid', 'p']) {
    assert.equal(await found(word, 'html'), '', word);
  }
  for (const word of ['chimichangas', 'café', 'cafe', 'end', 'nextx']) {
    assert.equal(await found(word, 'html'), 'markup', word);
  }
  assert.equal(await shown('cafe', 'html'), 'chimichangas\u00a0and <em>Café</em> end nextx');
  const phrase = { field: 'html', value: '"chimichangas and" -strong', operators: true };
  assert.equal((await tenant.good({ search: phrase })).totalResults, 1);
  const { results } = await tenant.good({ search: { field: 'html', value: 'cafe' } });
  assert.equal(results[0].html, titles.markup, 'the value itself is as it was sent');
});

test('check: an invalid keep or format is an error that names it', async () => {
  const index = (field: JsonObject): JsonObject => ({
    triggers: { cms: ['thing'] },
    properties: { a: '{p.title}' },
    index: { fields: { a: { type: 'text', ...field } } },
  });
  await assert.rejects(tenant.apply({ indexes: { things: index({ keep: 'a b' }) } }), /keep/);
  await assert.rejects(tenant.apply({ indexes: { things: index({ format: 'md' }) } }), /format/);
});
