import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { runSync, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { codeTest } from '../../../src/search/columns/code-test.ts';
import { ValueDictionary } from '../../../src/search/columns/value-dictionary.ts';
import type { PositiveOperator } from '../../../src/search/filter/condition.ts';
import { conditionOf } from '../support/columns.ts';

const texts = ['Berlin', 'berlin', 'Bern', 'Köln', ''];

function accepted(operator: PositiveOperator, value: Json, fold = false): string[] {
  const dictionary = new ValueDictionary();
  for (const text of texts) dictionary.acquire(text);
  const found = runSync(codeTest(dictionary, conditionOf(operator, value, fold), true));
  if (found.kind === 'none') return [];
  return texts.filter((_, code) => (found.kind === 'one' ? code === found.code : found.accepts(code)));
}

test('code test: strings are equal exactly, or ignoring case', () => {
  assert.deepEqual(accepted('equals', 'berlin'), ['berlin']);
  assert.deepEqual(accepted('equals', 'BERLIN', true), ['Berlin', 'berlin']);
  assert.deepEqual(accepted('in', ['', 'KÖLN', 5]), ['']);
  assert.deepEqual(accepted('in', ['', 'KÖLN', 5], true), ['Köln', '']);
});

test('code test: contains is a pattern on the whole string', () => {
  assert.deepEqual(accepted('contains', 'Ber*'), ['Berlin', 'Bern']);
  assert.deepEqual(accepted('contains', '*N', true), ['Berlin', 'berlin', 'Bern', 'Köln']);
  assert.deepEqual(accepted('contains', 'Ber'), []);
  assert.deepEqual(accepted('contains', 5), []);
});

test('code test: ordering operators never hold for strings', () => {
  for (const operator of ['greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals'] as const) {
    for (const value of ['a', 'Berlin', 'z']) assert.deepEqual(accepted(operator, value), [], operator);
  }
});

test('code test: each distinct value is tested once, and listing very many pauses', () => {
  const dictionary = new ValueDictionary();
  dictionary.acquire('99999');
  const { clock } = workBudget;
  workBudget.clock = () => true;
  const listed = Array.from({ length: 100_000 }, (_, at) => String(at));
  for (const fold of [false, true]) {
    const steps = codeTest(dictionary, conditionOf('in', listed, fold), true);
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses += 1;
    assert.ok(pauses > 100, `${pauses} pauses`);
    assert.notEqual(step.value.kind, 'none');
  }
  workBudget.clock = clock;
});
