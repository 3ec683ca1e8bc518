import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findJsonError } from '../../src/lib/json-syntax-error.ts';

test('JSON syntax error: reports line, column and what was expected', () => {
  const cases: [text: string, place: string][] = [
    ['', '1:1 a value'],
    ['{"a": 1,}', '1:9 a name in double quotes'],
    ['{\n  "a": 1\n  "b": 2\n}', '3:3 `,` or `}`'],
    ['[1, 2', '1:6 `,` or `]`'],
    ['[1,]', '1:4 a value'],
    ["{'a': 1}", '1:2 a name in double quotes or `}`'],
    ['{"a" 1}', '1:6 `:`'],
    ['["😀" x]', '1:6 `,` or `]`'],
    ['{} {}', '1:4 the end'],
    ['"abc', '1:5 `"` at the end of the string'],
    ['[1.]', '1:4 a digit'],
    ['undefined', '1:1 a value'],
  ];
  for (const [text, place] of cases) {
    const found = findJsonError(text);
    assert.equal(`${found?.line}:${found?.column} ${found?.expected}`, place, text);
  }
});

test('JSON syntax error: finds an error exactly where JSON.parse fails', () => {
  const unit = fc.constantFrom(...'{}[]",:0123e.-+\\u a\n', 'true', 'null', '"a"', '"\\n"');
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const texts = fc.oneof(
    fc.string({ unit }),
    fc.json(),
    fc.json().map((text) => text.slice(1)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      assert.equal(findJsonError(text) === null, isJson(text));
    }),
    { numRuns: 2000 },
  );
});
