import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBulkAnswer } from '../../../src/cli/import/bulk-answers.ts';

test('bulk answers: a request that was refused as a whole says nothing about its entities, though it has errors', () => {
  const body = { status: 422, message: 'The body is not valid', errorCode: 's-1001', errors: {} };
  const answer = { status: 422, body: JSON.stringify(body) };
  assert.deepEqual(readBulkAnswer(answer, []), { refusal: 'The body is not valid' });
});

test('bulk answers: an answer that refuses every entity contains the result of each', () => {
  const body = {
    status: 422,
    changedSourceEntities: [],
    unchangedSourceEntities: [],
    errors: { a: ['type is missing'] },
  };
  const record = { originId: 'a', line: 1, bytes: Buffer.from('{}') };
  const outcome = readBulkAnswer({ status: 422, body: JSON.stringify(body) }, [record]);
  assert.ok('failures' in outcome);
  assert.equal(outcome.failures.length, 1);
});
