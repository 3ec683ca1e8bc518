import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Steps, workBudget } from '../../../src/lib/cooperative-yield.ts';
import type { MessageBody } from '../../../src/query/transport/messages.ts';
import { Evaluation } from '../../../src/query/worker/running-request.ts';

/** Uses that much processor time, in steps that check the clock. */
function* spend(ms: number): Steps<MessageBody> {
  for (let spentMs = 0; spentMs < ms; spentMs += 0.5) {
    const startedMs = performance.now();
    while (performance.now() < startedMs + 0.5);
    workBudget.units += workBudget.unitsPerClockCheck;
    if (workBudget.isOver()) yield;
  }
  return `spent ${ms}`;
}

/** Evaluates queries that use that much processor time each. */
function evaluationOf(timesMs: readonly number[], budgetMs: number): Evaluation {
  const answerers = timesMs.map((ms) => () => spend(ms));
  return new Evaluation(answerers, budgetMs);
}

function toTheEnd(evaluation: Evaluation): { answers: readonly MessageBody[]; slices: number } {
  for (let slices = 1; ; slices += 1) {
    const nowMs = performance.now();
    const answers = evaluation.run(nowMs, nowMs + 2, Number.POSITIVE_INFINITY);
    if (answers !== null) return { answers, slices };
  }
}

test('running request: queries are answered in order, in as many slices as they take', () => {
  const { answers, slices } = toTheEnd(evaluationOf([0, 10, 0], 60_000));
  assert.deepEqual(answers, ['spent 0', 'spent 10', 'spent 0']);
  assert.ok(slices >= 3, `${slices} slices`);
});

test('running request: a query beyond its budget is refused, and the others are answered', () => {
  const evaluation = evaluationOf([0, 10_000, 0], 20);
  const { answers } = toTheEnd(evaluation);
  assert.equal(answers[0], 'spent 0');
  assert.match(JSON.stringify(answers[1]), /^\[false,"filters: the query was stopped after 20 ms/);
  assert.equal(answers[2], 'spent 0');
  assert.equal(evaluation.refused, 1);
});

/** Waits that long in one step, like a process that does not get a core, then for one more slice. */
function* wait(ms: number): Steps<MessageBody> {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  workBudget.units += workBudget.unitsPerClockCheck;
  if (workBudget.isOver()) yield;
  return `waited ${ms}`;
}

test('running request: time in which the process does not get a core is not counted', () => {
  const evaluation = new Evaluation(
    [200, 0, 200, 200].map((ms) => () => wait(ms)),
    100,
  );
  assert.deepEqual(toTheEnd(evaluation).answers, ['waited 200', 'waited 0', 'waited 200', 'waited 200']);
});

test('running request: all queries of a request together have a budget too', () => {
  const queries = Array.from({ length: 20 }, () => 60);
  const { answers } = toTheEnd(evaluationOf(queries, 200));
  const from = answers.findIndex((answer) => Array.isArray(answer));
  assert.ok(from >= 2, `${from} queries were answered`);
  for (const refusal of answers.slice(from)) {
    assert.match(
      JSON.stringify(refusal),
      /the queries of this request were stopped after .* send them in several/,
    );
  }
});

test('running request: near its deadline a query is refused after half of its budget, however long that took', () => {
  const evaluation = evaluationOf([10_000, 0], 400);
  const refused = /^\[false,"filters: the query was stopped after (\d+) ms of processor time/;
  for (;;) {
    const nowMs = performance.now();
    const answers = evaluation.run(nowMs, nowMs + 2, nowMs + 100);
    if (answers === null) continue;
    const [, spentMs = ''] = refused.exec(JSON.stringify(answers[0])) ?? [];
    assert.ok(Number(spentMs) >= 200 && Number(spentMs) < 400, `${spentMs} ms`);
    assert.equal(answers[1], 'spent 0');
    return;
  }
});

test('running request: an abandoned request starts again', () => {
  const evaluation = evaluationOf([5], 60_000);
  const nowMs = performance.now();
  assert.equal(evaluation.run(nowMs, nowMs + 1, Number.POSITIVE_INFINITY), null);
  evaluation.abandon();
  assert.deepEqual(toTheEnd(evaluation).answers, ['spent 5']);
});
