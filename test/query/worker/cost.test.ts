import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cost } from '../../../src/query/worker/cost.ts';

const condition = {
  kind: 'condition',
  field: 'name',
  operator: 'contains',
  value: `*${'x'.repeat(100)}*`,
  caseInsensitive: false,
} as const;

test('cost: the most expensive part is reported with its share, its condition and what to do', () => {
  const cost = new Cost();
  cost.add('filters', condition, 700.2);
  cost.add('filters', null, 50);
  cost.add('sort', null, 249.8);
  assert.equal(cost.ms, 1000);
  const reported = cost.explain(1000);
  assert.match(
    reported,
    /^filters: the query was stopped after 1000 ms of processor time in a worker, of which this took 75 %/,
  );
  assert.match(reported, /most of all contains "\*x+… on the field "name" \(701 ms\); use fewer conditions/);
});

test('cost: a facet is reported by its field, and shared work is attributed to no query', () => {
  const cost = new Cost();
  cost.add('shared', null, 5000);
  cost.add('facets', 'tags', 80);
  cost.add('page', null, 20);
  assert.equal(cost.ms, 100);
  assert.match(
    cost.explain(100),
    /^facets: .* 80 %, most of all the field "tags" \(80 ms\); use fewer facets/,
  );
});

test('cost: a query without any cost yet can be reported', () => {
  assert.match(new Cost().explain(0), /^filters: /);
});
