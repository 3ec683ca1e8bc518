import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryErrors, quote } from '../../../src/search/check/query-errors.ts';

test('query errors: a message starts with its path, and the affected member of the query is recorded', () => {
  const errors = new QueryErrors();
  errors.add('filters.and[0].operator', 'is missing');
  assert.deepEqual(errors.texts, ['filters.and[0].operator: is missing']);
  assert.ok(errors.isIn('filters'));
  assert.ok(!errors.isIn('sort'));
});

test('query errors: a body full of errors reports the first thousand', () => {
  const errors = new QueryErrors();
  for (let at = 0; at < 1500; at += 1) errors.add(`sort[${at}]`, 'is wrong');
  errors.add('filters', 'is wrong');
  assert.equal(errors.texts.length, 1000);
  assert.ok(errors.isIn('filters'), 'errors that are not reported are recorded too');
});

test('query errors: a quoted value is truncated, however long it is', () => {
  assert.equal(quote('a'), '"a"');
  assert.equal(quote(null), 'null');
  assert.equal(quote(['a', { b: 1 }]), '"[…]"');
  assert.equal(quote({ a: 'secret' }), '"{…}"');
  assert.equal(quote('x'.repeat(1_000_000)).length, 102);
  assert.ok(quote('"'.repeat(1_000_000)).length <= 103);
});
