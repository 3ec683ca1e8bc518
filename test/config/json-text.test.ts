import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJsonText } from '../../src/config/json-text.ts';
import { runs } from '../support/runs.ts';
import { spentMs } from '../support/spent.ts';

function issuesOf(text: string) {
  const parsed = parseJsonText(text);
  return parsed.ok ? [] : parsed.issues;
}

test('JSON text: parses every JSON value like JSON.parse, with any white space', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t', '\n'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.deepEqual(parseJsonText(`${text}\n`), { ok: true, json: JSON.parse(text) });
    }),
    { numRuns: runs(300) },
  );
});

test('JSON text: accepts a string exactly if JSON.parse does, except duplicate names and infinite numbers', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b"',
    '1',
    '-',
    '0',
    '.5',
    'e3',
    'true',
    'nul',
    ' ',
    '\\',
    '"',
    "'",
    '\u00a0',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
      const text = pieces.join('');
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        assert.equal(parseJsonText(text).ok, false);
        return;
      }
      const parsed = parseJsonText(text);
      if (parsed.ok) assert.deepEqual(parsed.json, expected);
      else assert.match(parsed.issues[0]?.message ?? '', /appears twice|beyond a 64-bit float/);
    }),
    { numRuns: runs(3000) },
  );
});

test('JSON text: reports line, column, path and what to change', () => {
  const cases: [string, RegExp, RegExp, string][] = [
    ['', /the file is empty \(line 1, column 1\)/, /\{\}/, '$'],
    ['{\n  "a": 1,\n}', /"," before "}" \(line 2, column 9\)/, /trailing comma/, '$'],
    ['{"a": [1 2]}', /"2" where "," or "]" should be \(line 1, column 10\)/, /comma missing/, '$.a'],
    ['{"a": {"b": }}', /"}" where a value should be \(line 1, column 13\)/, /extra comma/, '$.a.b'],
    ['{a: 1}', /"a" where a member name should be \(line 1, column 2\)/, /double quotes/, '$'],
    ["{'a': 1}", /"'" where a member name/, /double quotes/, '$'],
    ["['a']", /single quotes/, /double quotes/, '$[0]'],
    ['{"a" 1}', /"1" where ":" should be/, /colon after "a"/, '$'],
    ['{"a": "x\n"}', /not closed on its line \(line 1, column 7\)/, /\\n/, '$.a'],
    ['["\t"]', /raw control character/, /\\t/, '$[0]'],
    ['["\\x"]', /unknown escape/, /\\uXXXX/, '$[0]'],
    ['[// no\n1]', /"\/" where a value should be/, /no comments/, '$[0]'],
    ['{"a": "\\ud83d"}', /half of a character in a string \(line 1, column 7\)/, /whole character/, '$.a'],
    ['[{"\\ude00": 1}]', /half of a character/, /both halves/, '$[0]'],
    ['[01]', /01 is not a JSON number/, /look like/, '$[0]'],
    ['[1e999]', /beyond a 64-bit float/, /smaller/, '$[0]'],
    ['[1', /the file ends where "," or "]"/, /not closed/, '$'],
    ['{} x', /"x" after the end/, /closing bracket/, '$'],
    ['[undefined]', /"u" where a value/, /double quotes/, '$[0]'],
  ];
  for (const [text, message, advice, path] of cases) {
    const [issue] = issuesOf(text);
    assert.match(issue?.message ?? '', message, text);
    assert.match(issue?.advice ?? '', advice, text);
    assert.equal(issue?.path, path, text);
  }
});

test('JSON text: reports every duplicate member name with its path, and the syntax error after them', () => {
  const issues = issuesOf('{"a": 1,\n "a": 2, "b": {"__proto__": 1, "__proto__": 2}, }');
  assert.deepEqual(
    issues.map(({ path, message }) => [path, message]),
    [
      ['$.a', '"a" appears twice (line 2, column 2)'],
      ['$.b.__proto__', '"__proto__" appears twice (line 2, column 32)'],
      ['$', 'broken JSON: "," before "}" (line 2, column 47)'],
    ],
  );
});

test('JSON text: __proto__ is a name like any other', () => {
  const parsed = parseJsonText('{"__proto__": {"x": 1}, "constructor": 2}');
  assert.ok(parsed.ok);
  assert.equal(JSON.stringify(parsed.json), '{"__proto__":{"x":1},"constructor":2}');
});

test('JSON text: deep nesting and hostile sizes end in an issue, quickly', () => {
  assert.match(issuesOf('['.repeat(1_000_000))[0]?.message ?? '', /nested deeper than 200 levels/);
  const startedAt = spentMs();
  const twice = `{${'"a":1,'.repeat(200_000)}"a":1}`;
  assert.equal(issuesOf(twice).length, 20);
  assert.ok(spentMs() - startedAt < 2000);
});

test('JSON text: a byte order mark is skipped', () => {
  assert.deepEqual(parseJsonText('\uFEFF[]'), { ok: true, json: [] });
});
