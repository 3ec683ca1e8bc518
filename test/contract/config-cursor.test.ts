import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cursor, type Findings } from '../../src/contract/config-cursor.ts';
import { objectOf } from '../../src/contract/document-shape.ts';
import type { Json } from '../../src/contract/json.ts';

function cursorOver(json: Json): { root: Cursor; reported: () => string[] } {
  const findings: Findings = { issues: [], warnings: [] };
  const root = new Cursor('file.json', '$', json, findings);
  return { root, reported: () => findings.issues.map(({ path, message }) => `${path} ${message}`) };
}

test('config cursor: moves only to own members of a value', () => {
  const { root } = cursorOver({ list: [{ a: 1 }] });
  const [item] = root.member('list').items();
  assert.equal(item?.member('a').path, '$.list[0].a');
  assert.equal(item?.member('a').json, 1);
  assert.equal(item?.depth, 2);
  assert.ok(root.member('constructor').isAbsent);
});

test('config cursor: errors are reported with path and kind', () => {
  const { root, reported } = cursorOver({ list: {}, text: '', flag: 'yes', extra: 1 });
  assert.deepEqual(root.member('list').items(), []);
  assert.equal(root.member('text').nonEmptyString(), null);
  assert.equal(root.member('flag').optionalBoolean(false), false);
  assert.ok(root.object(objectOf({ list: {}, text: {}, flag: {} })));
  assert.deepEqual(reported(), [
    '$.list must be a list, is an object',
    '$.text must be a string, is empty',
    '$.flag must be true or false, is a string',
    '$.extra unknown key "extra"',
  ]);
});

test('config cursor: a value is quoted only if the file contains no keys', () => {
  const { root, reported } = cursorOver({ key: 'secret', order: 'up' });
  root.member('key').mustBe('a list', 'Put it in [ ].');
  root.member('order').expected('`asc` or `desc`', 'Write one of them.');
  assert.deepEqual(reported(), [
    '$.key must be a list, is a string',
    '$.order must be `asc` or `desc`, is "up"',
  ]);
});
