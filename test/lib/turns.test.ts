import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { Turns } from '../../src/lib/turns.ts';
import { runs } from '../support/runs.ts';

test('turns: the number of running tasks is bounded per owner and in total, and nobody waits forever', async () => {
  const owners = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      owners,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      async (asked, atOnceMax, ofOwnerMax) => {
        const turns = new Turns({ atOnceMax, ofOwnerMax, waitingMax: 60, refusal: () => new Error('full') });
        const running: string[] = [];
        await Promise.all(
          asked.map(async (owner) => {
            const end = await turns.turn(owner);
            running.push(owner);
            assert.ok(running.length <= atOnceMax);
            assert.ok(running.filter((other) => other === owner).length <= ofOwnerMax);
            await setImmediate();
            running.splice(running.indexOf(owner), 1);
            end();
          }),
        );
        assert.equal(turns.running, 0);
      },
    ),
    { numRuns: runs(50) },
  );
});

test('turns: an owner with much work does not delay another', async () => {
  const turns = new Turns({ atOnceMax: 1, ofOwnerMax: 1, waitingMax: 10, refusal: () => new Error('full') });
  const order: string[] = [];
  await Promise.all(
    ['a', 'a', 'a', 'a', 'b'].map(async (owner) => {
      const end = await turns.turn(owner);
      order.push(owner);
      await setImmediate();
      end();
    }),
  );
  assert.deepEqual(order, ['a', 'a', 'b', 'a', 'a']);
});

test('turns: an owner with too many waiting tasks is refused, and another is not', async () => {
  const turns = new Turns({ atOnceMax: 1, ofOwnerMax: 1, waitingMax: 2, refusal: () => new Error('full') });
  const end = await turns.turn('a');
  const waiting = [turns.turn('a'), turns.turn('a')];
  await assert.rejects(turns.turn('a'), /full/);
  const other = turns.turn('b');
  end();
  for (const turn of [waiting[0], other, waiting[1]]) (await turn)?.();
  (await turns.turn('a'))();
});
