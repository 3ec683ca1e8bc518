import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import {
  encodeEntity,
  readStamps,
  recordHeadsOf,
  restoredHead,
} from '../../../src/store/entities/entity-record.ts';

const entity = encodeEntity({
  originId: '1',
  type: 't',
  url: null,
  originParentId: null,
  redirects: [],
  properties: {},
});

function stampsOf(count: number): number[] {
  const heads = recordHeadsOf(Array.from({ length: count }, () => entity));
  return heads.map((head) => readStamps(head).stamps.stamp);
}

function fineNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** The clock may have been set since this process started, and on a busy machine time passes between the two reads. */
function clocksAgree(): boolean {
  return Array.from({ length: 100 }, () => Math.abs(fineNowMs() - Date.now())).some((apart) => apart < 1);
}

const clockWasSet = !clocksAgree() && 'the clock was set';

test('record heads: stamps order the requests to two fronts of one machine within a millisecond', {
  skip: clockWasSet,
}, () => {
  for (let time = 0; time < 1_000; time += 1) {
    const beforeMs = fineNowMs();
    const [stamp = 0] = stampsOf(1);
    assert.ok(stamp >= Math.floor(1000 * beforeMs), `${stamp} is before ${beforeMs} ms`);
    assert.ok(stamp <= 1000 * fineNowMs() + 1, `${stamp} is in the future`);
  }
});

test('record heads: stamps increase, also within a request and when the clock is set back', (context: TestContext) => {
  const first = stampsOf(50);
  context.mock.method(Date, 'now', () => 1_000);
  const all = [...first, ...stampsOf(50)];
  assert.ok(all.every((stamp, at) => at === 0 || stamp > (all[at - 1] ?? 0)));
});

test('record heads: stamps round-trip through a head, whichever of them are equal', () => {
  const stamp = fc.constantFrom(1_000_000, 1_000_001, 1_764_000_000_000_000, 8_000_000_000_000_000);
  fc.assert(
    fc.property(
      fc.record({ stamp, bornStamp: stamp, urlStamp: stamp }, { noNullPrototype: true }),
      (stamps) => {
        const head = restoredHead(entity, stamps);
        assert.deepEqual(readStamps(head), { stamps, typeAt: head.length });
        assert.equal(head.length, 33 + 8 * leftOver(stamps));
      },
    ),
  );
});

/** How many stamps a head has besides the first. */
function leftOver({ stamp, bornStamp, urlStamp }: ReturnType<typeof readStamps>['stamps']): number {
  if (urlStamp !== bornStamp) return 2;
  return bornStamp === stamp ? 0 : 1;
}
