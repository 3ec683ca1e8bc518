import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mistakes, quote } from '../../../src/search/check/mistakes.ts';

test('mistakes: a message starts with its path, and the affected member of the query is recorded', () => {
  const mistakes = new Mistakes();
  mistakes.add('filters.and[0].operator', 'is missing');
  assert.deepEqual(mistakes.texts, ['filters.and[0].operator: is missing']);
  assert.ok(mistakes.isIn('filters'));
  assert.ok(!mistakes.isIn('sort'));
});

test('mistakes: a body full of errors reports the first thousand', () => {
  const mistakes = new Mistakes();
  for (let at = 0; at < 1500; at += 1) mistakes.add(`sort[${at}]`, 'is wrong');
  mistakes.add('filters', 'is wrong');
  assert.equal(mistakes.texts.length, 1000);
  assert.ok(mistakes.isIn('filters'), 'errors that are not reported are recorded too');
});

test('mistakes: a quoted value is truncated, however long it is', () => {
  assert.equal(quote('a'), '"a"');
  assert.equal(quote(null), 'null');
  assert.equal(quote(['a', { b: 1 }]), '"[…]"');
  assert.equal(quote({ a: 'secret' }), '"{…}"');
  assert.equal(quote('x'.repeat(1_000_000)).length, 102);
  assert.ok(quote('"'.repeat(1_000_000)).length <= 103);
});
