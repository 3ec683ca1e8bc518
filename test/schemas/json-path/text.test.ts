import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { pathMarksMax, pathNestingMax } from '../../../src/contract/limits.ts';
import { filledLiteral, readPathText, withoutHoleMarks } from '../../../src/schemas/json-path/text.ts';
import { Reader, SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { runs } from '../../support/runs.ts';
import { frameOver } from '../support/fixtures.ts';

function read(text: string) {
  return readPathText(new Reader(text), Scope.partial);
}

test('text: a missing leading `$.` is added', () => {
  assert.equal(read('p.a').jsonPath, '$.p.a');
  assert.equal(read("['p']").jsonPath, "$['p']");
  assert.equal(read('..a').jsonPath, '$..a');
  assert.equal(read('$.p').jsonPath, '$.p');
});

test('text: a string without holes, braces and control escapes is unchanged', () => {
  const unit = fc.constantFrom(...'ab.*?@=<>!&|, 09()', '[', ']', "'it\\'s'", '"x"', '😀');
  const plain = fc.array(unit, { maxLength: 20 }).map((units) => `$${units.join('')}`);
  fc.assert(
    fc.property(plain, (text) => {
      const { jsonPath, holes, originalPosition } = read(text);
      assert.deepEqual([jsonPath, holes], [text, []]);
      for (let position = 0; position <= text.length; position++)
        assert.equal(originalPosition(position), position);
    }),
    { numRuns: runs(200) },
  );
});

test('text: a hole becomes a literal that does not depend on its content', () => {
  const { jsonPath, holes } = read("$.a[?@ == {x} && @ != 'y{x}']");
  assert.equal(holes.length, 2);
  assert.equal(withoutHoleMarks(jsonPath), "$.a[?@ == '{…}' && @ != 'y{…}']");
});

test('text: a position in the JSONPath maps back to the original string', () => {
  const text = "a[{some.long.path}]['{{x}}{y}'].end";
  const { jsonPath, originalPosition } = read(text);
  assert.equal(originalPosition(jsonPath.indexOf('end')), text.indexOf('end'));
  assert.equal(originalPosition(jsonPath.indexOf('a')), 0);
  assert.equal(originalPosition(jsonPath.length), text.length);
});

test('text: a literal is its own string, or is filled: with the scalar itself if it is a single hole, otherwise with a string', () => {
  const fill = (literal: string, root: Json) => {
    const { jsonPath, holes } = read(literal);
    return filledLiteral(jsonPath.slice(3, -2), holes)?.(frameOver(root));
  };
  assert.equal(filledLiteral('plain', []), null);
  assert.equal(fill("['{v}']", { v: 'x' }), 'x');
  assert.equal(fill("['a{v}{w}']", { v: 9, w: null }), 'a9');
  const { jsonPath, holes } = read('[{v}]');
  const alone = filledLiteral(jsonPath.slice(3, -2), holes);
  assert.equal(alone?.(frameOver({ v: 9 })), 9);
  assert.equal(alone?.(frameOver({ v: [9] })), '[9]');
  assert.equal(alone?.(frameOver({})), null);
});

test('text: an unpaired surrogate is rejected, because it could look like the marker of a hole', () => {
  for (const text of ["$['\udc00'0\udc00]", '$.\ud83d', "$['\ud83d']"]) {
    assert.throws(() => read(text), { name: 'SchemaSyntaxError', position: text.search(/\p{Surrogate}/u) });
  }
});

test('text: dots and brackets are counted and nesting is limited, except within quotes', () => {
  const steps = (count: number) => `$${'.a'.repeat(count)}`;
  assert.equal(read(steps(pathMarksMax)).jsonPath, steps(pathMarksMax));
  assert.throws(() => read(steps(pathMarksMax + 1)), SchemaSyntaxError);
  assert.equal(read(`$${'['.repeat(pathNestingMax)}`).holes.length, 0);
  assert.throws(() => read(`$${'['.repeat(pathNestingMax + 1)}`), SchemaSyntaxError);
  const quoted = `$['${'.(['.repeat(1_000)}']`;
  assert.equal(read(quoted).jsonPath, quoted);
});

test('text: an unterminated quoted string is an error at its start', () => {
  for (const text of ["$['a", '$["a\'', "$['a\\'"]) {
    assert.throws(() => read(text), { name: 'SchemaSyntaxError', position: 2 }, text);
  }
});
