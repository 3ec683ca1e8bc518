import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isScored, rowPieces, rowText } from '../../src/query/row-text.ts';
import { indexName } from '../../src/store/keys.ts';

const builtIns = { originId: 'ä"\ud800', sourceId: 's', updatedAtMs: 0, score: 0.5 };
const textOf = (fields: object, score: number | null = builtIns.score) =>
  rowText(rowPieces({ ...builtIns, score }, Buffer.from(JSON.stringify(fields)))).toString();

test('a row begins with its built-in fields', () => {
  const head = '{"_originId":"ä\\"\\ud800","_sourceGuid":"s","_updatedAt":"1970-01-01T00:00:00.000Z"';
  assert.equal(textOf({ a: '€', _b: 1 }), `${head},"_score":0.5,"a":"€","_b":1}`);
  assert.equal(textOf({ a: 1 }, null), `${head},"a":1}`);
  assert.equal(textOf({}), `${head},"_score":0.5}`);
});

test('fields that are named like built-in ones give way', () => {
  const names = { _originId: 1, _sourceGuid: 2, _updatedAt: 3, _score: 4, _views: 5 };
  assert.deepEqual(textOf({ ...names, a: 1 }), textOf({ a: 1 }));
  assert.deepEqual(textOf(names, null), textOf({}, null));
  assert.deepEqual(JSON.parse(textOf({ a: '"_score":' })).a, '"_score":');
});

test('what is written fills exactly the bytes that were counted', () => {
  for (const fields of [{}, { a: '😀' }, { _score: 1 }]) {
    const pieces = rowPieces(builtIns, Buffer.from(JSON.stringify(fields)));
    assert.equal(rowText(pieces).length, pieces.bytes);
    assert.doesNotThrow(() => JSON.parse(rowText(pieces).toString()));
  }
});

test('rows of an index schema have a score', () => {
  assert.deepEqual(
    [isScored(indexName.schema('auto')), isScored(indexName.auto('group', 't'))],
    [true, false],
  );
});
