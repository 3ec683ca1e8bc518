import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeBreakerOpenMs } from '../../src/contract/limits.ts';
import { CircuitBreaker } from '../../src/sandbox/circuit-breaker.ts';

test('circuit breaker: opens for one state of one entity, and closes by itself', () => {
  const clock = { ms: 0 };
  const breaker = new CircuitBreaker(() => clock.ms);
  breaker.trip('page', '{"id":"a"}');
  assert.equal(breaker.openForMs('page', '{"id":"a"}'), codeBreakerOpenMs);
  assert.equal(breaker.openForMs('page', '{"id":"b"}'), 0, 'another entity');
  assert.equal(breaker.openForMs('page', '{"id":"a","changed":true}'), 0, 'the entity after a change');
  assert.equal(breaker.openForMs('teaser', '{"id":"a"}'), 0, 'another schema');
  clock.ms += codeBreakerOpenMs;
  assert.equal(breaker.openForMs('page', '{"id":"a"}'), 0);
});
