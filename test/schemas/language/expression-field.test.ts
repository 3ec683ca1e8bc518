import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { compileField, compileRequiredField } from '../../../src/schemas/language/expression-field.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { cursorOver } from '../support/cursor.ts';
import { entityOf, frameOf } from '../support/fixtures.ts';

const frame = frameOf(entityOf({ n: 9, list: [1] }));

/** What a field gives, and where its mistakes are. */
function compiled(json: Json | undefined, compile = compileField) {
  const { at, places } = cursorOver(json);
  const { constant, value, text } = compile(at, Scope.entity);
  return {
    constant,
    value: value(frame),
    text: text(frame),
    mistakes: places(),
  };
}

test('a text is an expression, and `$exp` is another way to write it', () => {
  const number = { constant: null, value: 9, text: '9', mistakes: [] };
  assert.deepEqual(compiled('{p.n}'), number);
  assert.deepEqual(compiled({ $exp: '{p.n}' }), number);
  const plain = { constant: 'plain', value: 'plain', text: 'plain', mistakes: [] };
  assert.deepEqual(compiled('plain'), plain);
  assert.deepEqual(compiled({ $exp: 'plain' }), plain);
});

test('a literal is itself as a value, and its text is known without an entity', () => {
  assert.deepEqual(compiled(1.5), { constant: '1.5', value: 1.5, text: '1.5', mistakes: [] });
  assert.deepEqual(compiled(false), { constant: 'false', value: false, text: 'false', mistakes: [] });
  assert.deepEqual(compiled(null), { constant: null, value: null, text: null, mistakes: [] });
});

test('a mistake is reported at its place, and the field is null then', () => {
  const cases: [Json, string[]][] = [
    ['{p.', ['$']],
    ['{unknown}', ['$']],
    [{ $exp: '{p.' }, ['$.$exp']],
    [{ $exp: 7 }, ['$.$exp']],
    [{ $exp: { $exp: '{p.n}' } }, ['$.$exp']],
    [{}, ['$.$exp']],
    [{ $exp: '{p.', value: 1 }, ['$.value', '$.$exp']],
    [['{p.n}'], ['$']],
  ];
  for (const [json, mistakes] of cases) {
    const wanted = { constant: null, value: null, text: null, mistakes };
    assert.deepEqual(compiled(json), wanted, JSON.stringify(json));
  }
});

test('a required field may be null but not absent', () => {
  assert.deepEqual(compiled(undefined, compileRequiredField).mistakes, ['$']);
  assert.equal(compiled(undefined, compileRequiredField).value, null);
  assert.deepEqual(compiled(null, compileRequiredField).mistakes, []);
  assert.equal(compiled('{p.n}', compileRequiredField).value, 9);
});
