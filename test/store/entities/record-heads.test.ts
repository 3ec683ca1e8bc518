import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { type TestContext, test } from 'node:test';
import { encodeEntity } from '../../../src/store/entities/entity-record.ts';
import { recordHeadsOf, stampsAt } from '../../../src/store/entities/record-heads.ts';

const entity = encodeEntity({
  originId: '1',
  type: 't',
  url: null,
  originParentId: null,
  redirects: [],
  properties: {},
});

function stampsOf(count: number): number[] {
  return recordHeadsOf(Array.from({ length: count }, () => entity)).map((head) =>
    head.readDoubleBE(stampsAt),
  );
}

function fineNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** The clock can have been set since this process began; a busy machine lets time pass between the two looks. */
function clocksAgree(): boolean {
  return Array.from({ length: 100 }, () => Math.abs(fineNowMs() - Date.now())).some((apart) => apart < 1);
}

const clockWasSet = !clocksAgree() && 'the clock was set';

test('stamps order what comes to two fronts of one machine within a millisecond', {
  skip: clockWasSet,
}, () => {
  for (let time = 0; time < 1_000; time += 1) {
    const beforeMs = fineNowMs();
    const [stamp = 0] = stampsOf(1);
    assert.ok(stamp >= Math.floor(1000 * beforeMs), `${stamp} is before ${beforeMs} ms`);
    assert.ok(stamp <= 1000 * fineNowMs() + 1, `${stamp} is not there yet`);
  }
});

test('stamps rise, also within a request and when the clock is set back', (context: TestContext) => {
  const first = stampsOf(50);
  context.mock.method(Date, 'now', () => 1_000);
  const all = [...first, ...stampsOf(50)];
  assert.ok(all.every((stamp, at) => at === 0 || stamp > (all[at - 1] ?? 0)));
});
