/** What followed answers hold in a front is bounded, and nothing is held for who follows none. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultFrontLimits } from '../../../src/contract/front-limits.ts';
import { until } from '../../support/until.ts';
import { EventSource } from '../../system/support/event-source.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';

const answersMax = 1_000_000;
const viewBytes = 300_000;
/** Of that size. */
const fitting = 3;

let front: TestFront;
before(async () => {
  front = await startFront({
    services: { limits: { ...defaultFrontLimits, unsentAnswersBytes: answersMax } },
  });
  await putView(front.store, 'large', 'x'.repeat(viewBytes));
  await putClaim(front.store, 'large', { url: '/large' });
});
after(() => front.stop());

/** @param number in a parameter that says nothing: each is an answer of its own */
const path = (number: number) => `/v2?url=/large&n=${number}`;
const headers = { 'X-Api-Key': apiKeys.client, Accept: 'text/event-stream' };

async function followed(number: number): Promise<EventSource> {
  const events = new EventSource(front.url + path(number), headers);
  await events.until(() => events.isEnded || events.events.length > 0, 'an answer');
  return events;
}

test('more answers than a front holds are 503, until others are followed no more', async () => {
  const open = await Promise.all(Array.from({ length: fitting }, (_, at) => followed(at)));
  assert.deepEqual(
    open.map(({ status }) => status),
    [200, 200, 200],
  );
  const beyond = await followed(fitting);
  assert.equal(beyond.status, 503);
  const shared = await followed(0);
  assert.equal(shared.status, 200, 'an answer that is followed already costs nothing more');
  for (const events of [...open, shared]) events.close();
  await until('there is room again', async () => {
    const events = await followed(fitting);
    events.close();
    return events.status === 200;
  });
});

test('clients that go, and those that ask for the head alone, leave nothing behind', async () => {
  for (let number = 10; number < 20; number += 1) {
    const { status } = await front.call('HEAD', path(number), { key: apiKeys.client, headers });
    assert.equal(status, 200, `head ${number}`);
  }
  for (let number = 20; number < 30; number += 1) new EventSource(front.url + path(number), headers).close();
  await until('there is room', async () => {
    const events = await followed(30);
    events.close();
    return events.status === 200;
  });
});
