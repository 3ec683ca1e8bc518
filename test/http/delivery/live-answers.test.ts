/** A front bounds the live answers that it holds, and holds nothing for clients that follow none. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type LiveAnswer, LiveAnswers } from '../../../src/http/delivery/live-answers.ts';
import { until } from '../../support/until.ts';
import { EventSource } from '../../system/support/event-source.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';

const answersMax = 1_000_000;
const viewBytes = 150_000;
/** Of that size: half of `answersMax`. */
const fitting = 3;
const largeBytes = 12_000_000;

let front: TestFront;
/** Where answers wait before they are opened. */
let gate: Promise<void> = Promise.resolve();

class GatedLiveAnswers extends LiveAnswers {
  override async open(...asked: Parameters<LiveAnswers['open']>): Promise<LiveAnswer> {
    await gate;
    return super.open(...asked);
  }
}

const liveAnswers = new GatedLiveAnswers(answersMax);
before(async () => {
  front = await startFront({ services: { liveAnswers } });
  await putView(front.store, 'large', 'x'.repeat(viewBytes));
  await putClaim(front.store, 'large', { url: '/large' });
  await putView(front.store, 'large', 'x'.repeat(viewBytes), {}, 'two');
  await putClaim(front.store, 'large', { url: '/large' }, 'two');
});
after(() => front.stop());

/** @param number in a handle that does not exist, so that each is a separate answer */
const path = (number: number) => `/v2?url=/large&handle=n${number}`;
const headersOf = (key: string) => ({ 'X-Api-Key': key, Accept: 'text/event-stream' });
const headers = headersOf(apiKeys.client);

async function followed(number: number, key: string = apiKeys.client, more = ''): Promise<EventSource> {
  const events = new EventSource(front.url + path(number) + more, headersOf(key));
  await events.until(() => events.isEnded || events.events.length > 0, 'an answer').catch(() => {});
  return events;
}

test('live answers: a tenant that fills its share gets 503, another can still follow, until there is room again', async () => {
  const open = await Promise.all(Array.from({ length: fitting }, (_, at) => followed(at)));
  assert.deepEqual(
    open.map(({ status }) => status),
    [200, 200, 200],
  );
  const beyond = await followed(fitting);
  assert.equal(beyond.status, 503);
  const narrow = await followed(fitting, apiKeys.delivery);
  assert.equal(narrow.status, 503, 'another key of the tenant');
  const other = await followed(0, apiKeys.otherClient);
  assert.equal(other.status, 200, 'another tenant');
  for (const more of ['', '&unknown=1', '&handle=']) {
    const shared = await followed(0, apiKeys.client, more);
    assert.equal(shared.status, 200, `an answer that is already followed costs nothing more: ${more}`);
    shared.close();
  }
  for (const events of [...open, other]) events.close();
  await until('nothing is held', async () => liveAnswers.held.bytes === 0);
  const again = await followed(fitting);
  assert.equal(again.status, 200);
  again.close();
});

test('live answers: slow clients hold no more previous answers than fit', async () => {
  const change = async (version: number) => {
    await putView(front.store, 'huge', `${version}`.padEnd(largeBytes, 'x'));
    liveAnswers.changed(null);
  };
  await change(0);
  await putClaim(front.store, 'huge', { url: '/huge' });
  const reader = new EventSource(`${front.url}/v2?url=/huge`, headers);
  await reader.until(() => reader.events.length === 1, 'the first');
  const slow: EventSource[] = [];
  for (let version = 1; version <= 4; version += 1) {
    const one = new EventSource(`${front.url}/v2?url=/huge`, headers);
    await one.until(() => one.status === 200, 'an answer that is not read');
    one.pause();
    slow.push(one);
    await change(version);
    await reader.until(() => reader.events.length === version + 1, 'the next');
    assert.ok(liveAnswers.held.bytes < 1.1 * largeBytes, `${liveAnswers.held.bytes} bytes are held`);
  }
  for (const one of slow) one.resume();
  await until('they were disconnected', async () => slow.every(({ isEnded }) => isEnded));
  reader.close();
  await until('nothing is held', async () => liveAnswers.held.bytes === 0);
});

test('live answers: clients that disconnect, and HEAD requests, leave nothing behind', async () => {
  for (let number = 10; number < 20; number += 1) {
    const { status } = await front.call('HEAD', path(number), { key: apiKeys.client, headers });
    assert.equal(status, 200, `head ${number}`);
  }
  for (let number = 20; number < 30; number += 1) new EventSource(front.url + path(number), headers).close();
  await until('nothing is held', async () => liveAnswers.held.bytes === 0);
});

test('live answers: an answer requested before all were ended does not continue', async () => {
  let letIn = () => {};
  gate = new Promise((resolve) => {
    letIn = resolve;
  });
  const early = new EventSource(front.url + path(40), headers);
  await until('it is in progress', () => front.server.active > 0);
  front.server.endStreams();
  letIn();
  await until('it ends', () => early.isEnded);
  assert.equal(early.status, 200);
  const late = await followed(40);
  assert.ok(!late.isEnded);
  late.close();
});
