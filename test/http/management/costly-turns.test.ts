import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProblemError } from '../../../src/contract/errors.ts';
import { costlyCallsWaitingMax } from '../../../src/contract/limits.ts';
import { CostlyTurns } from '../../../src/http/management/request-values.ts';
import type { EndOfTurn } from '../../../src/lib/turns.ts';

test('costly turns: a few costly calls of a tenant wait, more are 503, and another tenant does not wait for them', async () => {
  const turns = new CostlyTurns();
  const begun: string[] = [];
  const begin = (tenant: string) =>
    turns.turn(tenant).then((end) => {
      begun.push(tenant);
      return end;
    });
  let end: EndOfTurn = await begin('rude');
  const [second, ...others] = Array.from({ length: costlyCallsWaitingMax }, () => begin('rude'));
  await assert.rejects(
    begin('rude'),
    (error: unknown) => error instanceof ProblemError && error.problem.status === 503,
  );
  const polite = begin('polite');
  for (const next of [second, polite, ...others]) {
    end();
    end = (await next) ?? end;
  }
  assert.deepEqual(begun.slice(0, 4), ['rude', 'rude', 'polite', 'rude']);
  end();
  assert.equal(turns.running, 0);
});
