import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problems } from '../../src/contract/errors.ts';
import { listProblems } from '../docs/support/problem-list.ts';

test('problem list: has every problem of the catalogue once, under its own name', () => {
  const listed = listProblems();
  assert.deepEqual(listed.map(({ name }) => name).sort(), Object.keys(problems).sort());
  for (const { name, status, message } of listed) {
    assert.ok(status >= 400 && status < 600, name);
    assert.ok(message.length > 5, name);
  }
});
