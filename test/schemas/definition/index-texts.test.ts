import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { languages, readIndexTexts, sameTexts } from '../../../src/schemas/definition/index-texts.ts';
import { cursorOver } from '../support/cursor.ts';

function read(json: Json) {
  const { at, places } = cursorOver(json);
  return { ...readIndexTexts(at), places: places() };
}

test('index texts: fields declare how their words are analyzed; fields without a declaration are not listed', () => {
  const named = Object.fromEntries(languages.map((language) => [language, { type: 'text', language }]));
  const { rules, synonyms, places } = read({
    fields: {
      ...named,
      a: { type: 'text[]', foldAccents: true },
      b: { type: 'text', foldAccents: false },
      c: { type: 'long' },
    },
  });
  assert.deepEqual([...rules.keys()], [...languages, 'a']);
  assert.deepEqual(rules.get('de'), { language: 'de', foldAccents: false });
  assert.deepEqual(rules.get('a'), { language: null, foldAccents: true });
  assert.deepEqual([synonyms, places], [[], []]);
});

test('keep: at most ten visible characters, in any order and with any repetition', () => {
  const { rules, places } = read({
    fields: {
      a: { type: 'text', keep: '#+' },
      b: { type: 'text[]', keep: '+#+', format: 'html' },
      c: { type: 'text', keep: '' },
      d: { type: 'text', keep: '0123456789+' },
      e: { type: 'text', keep: '+ #' },
      f: { type: 'text', keep: '+\u00ad' },
      g: { type: 'text', format: 'markdown' },
      h: { type: 'keyword', keep: '+', format: 'html' },
    },
  });
  assert.deepEqual(rules.get('a'), { language: null, foldAccents: false, keep: '#+' });
  assert.deepEqual(rules.get('b'), { language: null, foldAccents: false, keep: '#+', format: 'html' });
  assert.deepEqual(places, [
    '$.fields.c.keep',
    '$.fields.d.keep',
    '$.fields.e.keep',
    '$.fields.f.keep',
    '$.fields.g.format',
    '$.fields.h.keep',
    '$.fields.h.format',
  ]);
});

test('index texts: synonyms are lists, or what a string finds besides itself', () => {
  const list = ['tv', 'television set'];
  const { synonyms, places } = read({ synonyms: [list, { from: 'iphone', to: ['apple phone'] }] });
  assert.deepEqual(synonyms, [
    { from: list, to: list },
    { from: ['iphone'], to: ['apple phone'] },
  ]);
  assert.deepEqual(places, []);
});

test('index texts: each error has its path', () => {
  const fields = {
    a: { type: 'text', language: 'xx' },
    b: { type: 'text', language: 5, foldAccents: 'yes' },
    c: { type: 'keyword', language: 'en' },
    d: { type: 'integer', foldAccents: true },
  };
  assert.deepEqual(read({ fields }).places, [
    '$.fields.a.language',
    '$.fields.b.language',
    '$.fields.b.foldAccents',
    '$.fields.c.language',
    '$.fields.d.foldAccents',
  ]);
  const many = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`);
  const synonyms: [Json, string[]][] = [
    ['tv', ['$.synonyms']],
    [[['tv', 5]], ['$.synonyms[0][1]']],
    [[[]], ['$.synonyms[0]']],
    [['tv'], ['$.synonyms[0]']],
    [[['tv', '…!']], ['$.synonyms[0][1]']],
    [[['tv', 'x'.repeat(257)]], ['$.synonyms[0][1]']],
    [[{ from: 'tv' }], ['$.synonyms[0].to']],
    [
      [{ from: ['tv'], to: 'television', x: 1 }],
      ['$.synonyms[0].x', '$.synonyms[0].from', '$.synonyms[0].to'],
    ],
    [[many(20)], []],
    [[many(21)], ['$.synonyms[0]']],
    [[{ from: 'tv', to: many(20) }], []],
    [[{ from: 'tv', to: many(21) }], ['$.synonyms[0].to']],
    [Array.from({ length: 1000 }, () => ['a', 'b']), []],
    [Array.from({ length: 1001 }, () => ['a', 'b']), ['$.synonyms']],
  ];
  for (const [value, expected] of synonyms) {
    assert.deepEqual(
      read({ fields: {}, synonyms: value }).places,
      expected,
      JSON.stringify(value).slice(0, 60),
    );
  }
});

test('index texts: equivalent declarations are equal', () => {
  const one = read({ fields: { a: { type: 'text', language: 'en' } }, synonyms: [['a', 'b']] });
  const again = read({ fields: { a: { type: 'text[]', language: 'en' } }, synonyms: [['a', 'b']] });
  assert.ok(sameTexts(one, again));
  assert.ok(!sameTexts(one, { ...one, synonyms: [] }));
  assert.ok(!sameTexts(one, { ...one, rules: new Map() }));
});
