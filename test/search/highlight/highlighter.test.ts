import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { finish, runSync, type Steps, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { plainAnalyzer } from '../../../src/search/analysis/analyzer.ts';
import { Highlighter, matchesIn } from '../../../src/search/highlight/highlighter.ts';
import { WordMatcher } from '../../../src/search/highlight/word-matcher.ts';
import { runs } from '../../support/runs.ts';
import { queryOf } from '../support/checks.ts';
import { naiveMarked, naiveMatches, naiveWordCount } from '../support/naive-highlight.ts';

const runCount = runs(300);

/** The fields of an item with its highlights. */
function shown(fields: JsonObject, search: JsonObject, highlight: JsonObject = {}): JsonObject {
  const highlighter = Highlighter.of(
    queryOf({ search: { field: 'text', ...search }, highlight }),
    () => plainAnalyzer,
  );
  assert.ok(highlighter !== null);
  return JSON.parse(runSync(highlighter.highlighted(Buffer.from(JSON.stringify(fields)))).toString());
}

function highlights(fields: JsonObject, search: JsonObject, highlight?: JsonObject): Json {
  return shown(fields, search, highlight)._highlights ?? null;
}

const word = fc.constantFrom(
  'river',
  'rivers',
  'rivr',
  'Mill',
  'mil',
  'ﬁne',
  'fine',
  'é',
  'e\u0301',
  '①',
  'a',
  'millstone',
);
const gap = fc.constantFrom(' ', ' & ', '-', '😀', '', '\u0301 ');
const text = fc
  .array(fc.tuple(word, gap), { maxLength: 25 })
  .map((parts) => parts.map(([one, behind]) => one + behind).join(''));
const search = fc.record({
  value: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' ')),
  prefix: fc.boolean(),
  fuzziness: fc.constantFrom(0, 1, null),
});

test('highlighter: marks exactly the words that the search finds, and leaves the text unchanged', () => {
  fc.assert(
    fc.property(text, search, (value, asked) => {
      const marked = naiveMarked(value, asked, '[', ']');
      const expected = marked === value ? {} : { text: marked };
      assert.deepEqual(highlights({ text: value }, asked, { before: '[', after: ']' }), expected);
    }),
    { numRuns: runCount },
  );
});

test('highlighter: a passage is a part of the text with as many different words as fit, each complete', () => {
  fc.assert(
    fc.property(text, search, fc.integer({ min: 1, max: 60 }), (value, asked, length) => {
      const matches = naiveMatches(value, asked);
      const { text: passage } = highlights({ text: value }, asked, { before: '', after: '', length }) as {
        text?: string;
      };
      assert.equal(passage === undefined, matches.length === 0);
      if (passage === undefined) return;
      const isCut = [passage.startsWith('…'), passage.endsWith('…')];
      const part = passage.replace(/^…/, '').replace(/…$/, '');
      assert.ok(value.includes(part));
      assert.equal(isCut[0] || isCut[1], part !== value);
      const longest = Math.max(...matches.map(([start, end]) => [...value.slice(start, end)].length));
      assert.ok([...passage].length <= Math.max(length, longest + 2), `${passage} of ${length}`);
      // As many different words as the best run of matches of that length.
      const room = part === value ? length : Math.max(1, length - 2);
      let most = 1;
      for (const [from] of matches) {
        for (const [, to] of matches) {
          const run = value.slice(from, Math.max(from, to));
          if ([...run].length <= room) most = Math.max(most, naiveWordCount(run, asked));
        }
      }
      assert.ok(naiveWordCount(part, asked) >= most, `${passage}: ${most} words in ${value}`);
    }),
    { numRuns: runCount },
  );
});

test('highlighter: marks are <em> by default; if one is markup the text is escaped', () => {
  const fields = { text: `Tom & "Jerry's" <b>house</b>` };
  const escaped = 'Tom &amp; &quot;Jerry&#39;s&quot; &lt;b&gt;<em>house</em>&lt;/b&gt;';
  assert.deepEqual(highlights(fields, { value: 'hause' }), { text: escaped });
  const plain = { before: '**', after: '**' };
  assert.deepEqual(highlights(fields, { value: 'hause' }, plain), {
    text: `Tom & "Jerry's" <b>**house**</b>`,
  });
  assert.deepEqual(highlights({ text: 'a & b' }, { value: 'b' }, { before: '', after: '<' }), {
    text: 'a &amp; b<',
  });
});

test('highlighter: the length counts the original text, without its marks', () => {
  const value = `${'lorem ipsum '.repeat(9)}a <river> flows ${'dolor sit '.repeat(9)}`;
  assert.deepEqual(highlights({ text: value }, { value: 'river' }, { length: 30 }), {
    text: '…ipsum a &lt;<em>river</em>&gt; flows…',
  });
  assert.deepEqual(highlights({ text: 'river and more' }, { value: 'river' }, { length: 9 }), {
    text: '<em>river</em>…',
  });
});

test('highlighter: a list returns all its strings; a field without a match is absent', () => {
  const fields = { 'text[]': ['a river', 'a < mill', 'nothing here at all'], text: 'mill' };
  const asked = { field: null, fields: [{ field: 'text[]' }, { field: 'text' }], value: 'river' };
  assert.deepEqual(highlights(fields, asked), {
    'text[]': ['a <em>river</em>', 'a &lt; mill', 'nothing here at all'],
  });
  assert.deepEqual(highlights(fields, asked, { length: 9 }), {
    'text[]': ['a <em>river</em>', 'a &lt; mill', 'nothing…'],
  });
  assert.deepEqual(highlights(fields, asked, { fields: ['text'] }), {});
  assert.deepEqual(highlights(fields, { ...asked, value: 'mill' }, { fields: ['text'] }), {
    text: '<em>mill</em>',
  });
  assert.deepEqual(highlights({}, { value: 'mill' }), {});
});

test("highlighter: the item's own fields stay, except one that has the name of the highlights", () => {
  const fields = { text: 'mill \ud800', _highlights: 'mine', b: 1 };
  assert.deepEqual(shown(fields, { value: 'mill' }), {
    text: fields.text,
    b: 1,
    _highlights: { text: '<em>mill</em> \ud800' },
  });
  assert.deepEqual(shown({}, { value: 'mill' }), { _highlights: {} });
});

test('highlighter: highlights beyond the limit of a page are abandoned early', () => {
  const highlight = { before: '<'.repeat(256), after: '>'.repeat(256) };
  const highlighter = Highlighter.of(
    queryOf({ search: { field: 'text', value: 'a' }, highlight }),
    () => plainAnalyzer,
  );
  const fields = Buffer.from(JSON.stringify({ text: 'a '.repeat(200_000) }));
  assert.ok(highlighter !== null);
  const { length } = runSync(highlighter.highlighted(fields));
  assert.ok(highlighter.isExceeded);
  assert.ok(length < 64 * 1024 * 1024);
});

/** Number of pauses when the time is always over. */
function pausesOf(steps: Steps<unknown>): number {
  let pauses = 0;
  workBudget.clock = () => true;
  while (steps.next().done !== true) pauses += 1;
  return pauses;
}

test('highlighter: text with very many matches, or very many characters to escape, is written in steps', (context) => {
  context.after(() => finish(null));
  const query = (highlight: JsonObject) => queryOf({ search: { field: 'text', value: 'mill' }, highlight });
  const many = 'mill '.repeat(100_000);
  const escaped = `${'<'.repeat(500_000)} mill`;
  const cases: readonly (readonly [string, JsonObject])[] = [
    [many, {}],
    [many, { before: '', after: '' }],
    [many, { length: 100 }],
    [many, { length: 400_000 }],
    [escaped, {}],
  ];
  for (const [value, highlight] of cases) {
    const asked = query(highlight);
    assert.ok(asked.search !== null);
    const matcher = WordMatcher.of(asked.search, plainAnalyzer);
    const highlighter = Highlighter.of(asked, () => plainAnalyzer);
    assert.ok(highlighter !== null);
    const fields = Buffer.from(JSON.stringify({ text: value }));
    const ofFinding = pausesOf(matchesIn(value, matcher));
    const pauses = pausesOf(highlighter.highlighted(fields));
    assert.ok(pauses > ofFinding + 100, `${pauses} pauses, ${ofFinding} of them while finding matches`);
  }
});
