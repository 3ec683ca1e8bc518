/** Views of megabytes: their sizes are known before they are fetched (docs/reference/http.md "References in an answer"). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import { until } from '../../support/until.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView, putViews, viewIdOf } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';

const mebibyte = 1024 * 1024;
const viewBytes = Math.round(4.9 * mebibyte);
const count = 64;

let front: TestFront;
before(async () => {
  front = await startFront({ services: { cache: new AnswerCache(0) } });
  const names = Array.from({ length: count }, (_, view) => `big-${view}`);
  await putViews(front.store, names, 'x'.repeat(viewBytes));
  await putView(front.store, 'small', 'small');
  await putClaim(front.store, 'small', { handle: 'small' });
  await putView(front.store, 'above', 'above', { big: 'big-0', again: 'big-0', small: 'small' });
});
after(() => front.stop());

const idsOf = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, at) => `id=${encodeURIComponent(viewIdOf(`big-${first + at}`))}`);
const ask = (parameters: readonly string[], key: string = apiKeys.client) =>
  front.call('GET', `/v2?${parameters.join('&')}`, { key, headers: { 'Accept-Encoding': 'identity' } });

/** Bytes that Redis has sent since it started. */
async function sentByRedis(): Promise<number> {
  const text = await front.store.client.info('stats');
  return Number(/total_net_output_bytes:(\d+)/.exec(text)?.[1]);
}

test('view loading: views too large for one answer are refused before they are fetched', async () => {
  const sentBefore = await sentByRedis();
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(idsOf(0, count))));
  for (const { status, json } of answers) {
    assert.equal(status, 422);
    assert.match(json.message, /larger than 33,554,432 bytes/);
  }
  const sent = (await sentByRedis()) - sentBefore;
  assert.ok(sent < mebibyte, `Redis sent ${sent} bytes`);
});

test('view loading: as many large views as an answer can contain are delivered, each once', async () => {
  const { status, text } = await ask(idsOf(0, 6));
  assert.equal(status, 200);
  const { views } = JSON.parse(text);
  assert.equal(Object.keys(views).length, 6);
  for (const view of Object.values<{ title: string }>(views)) assert.equal(view.title.length, viewBytes);
});

test('view loading: references to large views are resolved, and a view shown twice counts twice', async () => {
  const { status, text } = await ask([`id=${encodeURIComponent(viewIdOf('above'))}`]);
  assert.equal(status, 200);
  const [view] = Object.values(JSON.parse(text).views) as [Record<string, { title: string }>];
  assert.deepEqual([view.big?.title.length, view.again?.title.length], [viewBytes, viewBytes]);
  assert.equal(view.small?.title, 'small');
});

test('view loading: a view that becomes large, small, large again and is removed is delivered in its current state', async () => {
  const lengths: (number | null)[] = [];
  const look = async () => {
    const { text } = await ask([`id=${encodeURIComponent(viewIdOf('changing'))}`]);
    const [view] = Object.values<{ title: string }>(JSON.parse(text).views);
    lengths.push(view?.title.length ?? null);
  };
  for (const length of [100_000, 5, 200_000]) {
    await putView(front.store, 'changing', 'y'.repeat(length));
    await look();
  }
  assert.deepEqual(lengths, [100_000, 5, 200_000]);
});

/** Reads and discards an answer. @returns its status */
async function readAway(parameters: readonly string[]): Promise<number> {
  const { status, body } = await fetch(`${front.url}/v2?${parameters.join('&')}`, {
    headers: { 'X-Api-Key': apiKeys.client, 'Accept-Encoding': 'identity' },
  });
  await body?.pipeTo(new WritableStream());
  return status;
}

test('view loading: large answers of one client are built one at a time, and another client is served meanwhile', async () => {
  let largest = 0;
  let running = true;
  let answered = 0;
  const watch = (async () => {
    while (running) {
      largest = Math.max(largest, front.largeAnswers.running);
      assert.equal((await ask(['handle=small'], apiKeys.delivery)).status, 200);
      answered += 1;
    }
  })();
  const large = Array.from({ length: 8 }, () => readAway([...idsOf(0, 5), `id=${Math.random()}`]));
  for (const status of await Promise.all(large)) assert.equal(status, 200);
  running = false;
  await watch;
  assert.equal(largest, 1);
  // Behind all of the large ones it would have been the only one.
  assert.ok(answered > 8, `${answered} small answers during 8 large ones`);
  await until('no turn is left', () => front.largeAnswers.running === 0);
});

test('view loading: one client can have a bounded number of waiting requests', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => ask([...idsOf(0, 1), `id=${Math.random()}`])),
  );
  const statuses = answers.map(({ status }) => status);
  assert.ok(statuses.includes(200));
  assert.ok(statuses.every((status) => status === 200 || status === 503));
  for (const { status, headers } of answers)
    if (status === 503) assert.equal(headers.get('retry-after'), '1');
});
