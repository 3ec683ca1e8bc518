/** Queries that pause wherever they can, while others run on the same shard, return the same as queries that do not pause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Steps, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import type { ShardAnswer } from '../../../src/search/shard-answer.ts';
import { runs } from '../../support/runs.ts';
import { allTypes, item, query } from '../support/arbitraries.ts';
import { queryOf } from '../support/checks.ts';

const runCount = runs(200);

/** Runs all of them one step at a time, in a given order. @returns their answers, null for those that were abandoned */
function inTurns(all: readonly Steps<ShardAnswer>[], order: readonly number[], left: number) {
  const answers = all.map((): ShardAnswer | null => null);
  const open = all.map((_, at) => at);
  let pauses = 0;
  for (let turn = 0; open.length > 0; turn += 1) {
    const place = (order[turn % order.length] ?? 0) % open.length;
    const at = open[place] ?? 0;
    workBudget.clock = () => true;
    const step = all[at]?.next();
    if (step?.done === true) answers[at] = step.value;
    else pauses += 1;
    if (step?.done === true || (at === left && pauses > 20)) {
      if (step?.done !== true)
        all[at]?.return({ total: 0, rows: [], facets: [], valueCount: 0, stats: null });
      open.splice(place, 1);
    }
  }
  return { answers, pauses };
}

function textOf({ total, rows, facets }: ShardAnswer): string {
  return JSON.stringify([
    total,
    rows.map(({ place, score, fieldsBytes }) => [place, score, fieldsBytes.toString()]),
    facets,
  ]);
}

test('pauses: queries that pause at every step, some of them abandoned, return the same as without a pause', (context) => {
  const { unitsPerClockCheck } = workBudget;
  context.after(() => {
    workBudget.unitsPerClockCheck = unitsPerClockCheck;
  });
  let paused = 0;
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 60 }),
      fc.array(query, { minLength: 2, maxLength: 4 }),
      fc.array(fc.nat(3), { minLength: 1, maxLength: 50 }),
      fc.nat(8),
      (items, bodies, order, left) => {
        const shards = [new Shard({ fields: allTypes }), new Shard({ fields: allTypes })];
        for (const each of items) for (const shard of shards) shard.upsert(each);
        const [paused1, plain] = shards;
        assert.ok(paused1 !== undefined && plain !== undefined);
        const queries = bodies.map((body) => queryOf(body));
        workBudget.unitsPerClockCheck = unitsPerClockCheck;
        const expected = queries.map((each) => textOf(plain.query(each, 2)));
        workBudget.unitsPerClockCheck = 1;
        for (let round = 0; round < 2; round += 1) {
          const { answers, pauses } = inTurns(
            queries.map((each) => paused1.answer(each, 2)),
            order,
            left,
          );
          paused += pauses;
          for (const [at, answer] of answers.entries()) {
            if (answer !== null) assert.equal(textOf(answer), expected[at]);
          }
        }
        workBudget.unitsPerClockCheck = unitsPerClockCheck;
        assert.deepEqual(
          queries.map((each) => textOf(paused1.query(each, 2))),
          expected,
        );
      },
    ),
    { numRuns: runCount },
  );
  assert.ok(paused > runCount, `${paused} pauses`);
});

test('pauses: a shard whose tables grow in steps equals one that grew without a pause', (context) => {
  const { unitsPerClockCheck } = workBudget;
  context.after(() => {
    workBudget.unitsPerClockCheck = unitsPerClockCheck;
  });
  // Items without values have fewer tables that grow.
  let longest = 0;
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 20, maxLength: 40 }),
      fc.array(query, { minLength: 3, maxLength: 3 }),
      (items, bodies) => {
        const [slow, plain] = [new Shard({ fields: allTypes }), new Shard({ fields: allTypes })];
        // The tables double at 1,024 and at 2,048 docs, those of the values in between.
        for (let number = 0; number < 2_100; number += 1) {
          const each = items[number % items.length];
          assert.ok(each !== undefined);
          const copy = {
            ...each,
            originId: `${each.originId} ${number}`,
            sourceId: `source-${number % 700}`,
          };
          let pauses = 0;
          workBudget.unitsPerClockCheck = 1;
          const steps = slow.put(copy);
          workBudget.clock = () => true;
          while (steps.next().done !== true) pauses += 1;
          longest = Math.max(longest, pauses);
          workBudget.unitsPerClockCheck = unitsPerClockCheck;
          plain.upsert(copy);
        }
        for (const each of bodies.map((body) => queryOf(body))) {
          assert.equal(textOf(slow.query(each, 2)), textOf(plain.query(each, 2)));
        }
      },
    ),
    { numRuns: Math.max(2, runCount / 50) },
  );
  assert.ok(longest > 30, `${longest} pauses`);
});
