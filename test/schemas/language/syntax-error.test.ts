import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAt, SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { cursorOver } from '../support/cursor.ts';

test('syntax error: the result of a successful parse is returned, without issues', () => {
  const { at, issues } = cursorOver('text');
  assert.equal(
    parseAt(at, () => 7),
    7,
  );
  assert.deepEqual(issues, []);
});

test('syntax error: a syntax error becomes an issue at its position, and the result is null', () => {
  const { at, issues } = cursorOver({ a: 'text' });
  const result = parseAt(at.member('a'), () => {
    throw new SchemaSyntaxError('at character 3: wrong', 2, 'Write it right.');
  });
  assert.equal(result, null);
  assert.deepEqual(issues, [
    { file: 'file.json', path: '$.a', message: 'at character 3: wrong', advice: 'Write it right.' },
  ]);
});

test('syntax error: any other error is a bug and is rethrown', () => {
  const { at, issues } = cursorOver('text');
  const fault = new TypeError('a fault');
  const parse = () => {
    throw fault;
  };
  assert.throws(() => parseAt(at, parse), fault);
  assert.deepEqual(issues, []);
});
