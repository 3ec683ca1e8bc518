/** A string chosen so that it could replace another one unnoticed if outputs were compared by a weak digest. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { LogReader } from '../../../src/store/change-log/entries.ts';
import { contentDigest, digestBytes, digestOf, isDigestOf } from '../../../src/store/codec/digest.ts';
import { encodeBody } from '../../../src/store/derived/stored-body.ts';
import { changeRecords } from '../../jobs/support/former-records.ts';
import { Platform, page, scope, siteFiles } from '../../jobs/support/platform.ts';
import { TestRedis } from '../../support/redis.ts';
import { textWithDigest } from '../../support/xxh64.ts';

const redisUrl = (await TestRedis.start()).url;
const removed = '[removed by the moderator]';
/** Found in a fraction of a second: the view of this string has the same XXH64 as the view of `removed`. */
const chosen = 'Harmful words 000pl ...rp`gpFkG';

function storedView(text: string | readonly string[]): Buffer {
  const view = { texts: [JSON.stringify({ title: 'News', text })], references: [] };
  return finish(encodeBody(view, 'src-1'));
}

/** With one view of this schema, in the form of `storedView`. */
async function siteOfTexts(context: TestContext): Promise<Platform> {
  const properties = { title: '{p.title}', text: '{p.text}' };
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(siteFiles({ schemas: { page: { triggers: { cms: ['page'] }, properties } } }));
  await platform.startWorker();
  return platform;
}

test('chosen texts: a replaced string leaves its view, whatever digest it was chosen for', async (context) => {
  const [before, after] = [storedView(chosen), storedView(removed)];
  assert.deepEqual(digestOf(before), digestOf(after));
  assert.notDeepEqual(contentDigest(before), contentDigest(after));
  const platform = await siteOfTexts(context);
  for (const text of [chosen, removed]) {
    await platform.ingest([page('a', { title: 'News', text })]);
    await platform.settle();
    assert.deepEqual(await platform.view('page', 'a'), { title: 'News', text });
  }
});

/** Sequences of the entries in the change log of the view. */
async function reported({ store }: Platform): Promise<number[]> {
  const all = store.partitions.tags.map((_, partition) => ({
    partition,
    position: 0,
    tracesFrom: 0,
    until: Number.MAX_SAFE_INTEGER,
  }));
  const portions = await new LogReader(store, scope).read(all, 100);
  return portions.flatMap(({ entries }) => entries.map(({ sequence }) => sequence));
}

for (const [of, digest] of [
  ['today', contentDigest(storedView('text'))],
  ['a former version', digestOf(storedView('text'))],
] as const) {
  test(`chosen texts: a string is reported when it replaces one whose record is of ${of}, whatever digest it was chosen for`, async (context) => {
    const [beginning = '', end = ''] = storedView('|').toString().split('|');
    const chosen = digest.subarray(0, digestBytes);
    const after = textWithDigest(chosen, { beginning, end, allowed: /^[^\P{ASCII}\p{Cc}"\\]{8}$/u });
    assert.deepEqual(digestOf(after), chosen);
    const platform = await siteOfTexts(context);
    await platform.ingest([page('a', { title: 'News', text: 'text' })]);
    await platform.settle();
    await changeRecords(platform.store, (output) => ({ ...output, bytesDigest: digest }));
    const [sequence = 0] = await reported(platform);
    const { text } = JSON.parse(after.slice(1)) as { text: string };
    await platform.ingest([page('a', { title: 'News', text })]);
    await platform.settle();
    assert.deepEqual(await platform.view('page', 'a'), { title: 'News', text });
    const sequences = await reported(platform);
    assert.ok(sequences.length === 1 && sequences.every((later) => later > sequence), String(sequences));
  });
}

test('chosen texts: a string of another entity is reported when it replaces one with a record of an earlier version', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const lookup = { operator: 'equals', sourceEntityProperty: 'group', matchValue: '{p.wants}' };
  const texts = { type: 'array', input: { $lookup: lookup }, items: '{item.p.text}' };
  const schema = { triggers: { cms: ['page'] }, properties: { title: '{p.title}', text: texts } };
  await platform.publish(siteFiles({ schemas: { page: schema } }));
  await platform.startWorker();
  const author = (text: string) => page('b', { group: 'g', text }, { type: 'author' });
  await platform.ingest([page('a', { title: 'News', wants: 'g' }), author('text')]);
  await platform.settle();
  const listed = (text: string) => storedView([text]);
  const former = digestOf(listed('text'));
  await changeRecords(platform.store, (output) => ({ ...output, bytesDigest: former }));
  const [sequence = 0] = await reported(platform);
  const [beginning = '', end = ''] = listed('|').toString().split('|');
  const after = textWithDigest(former, { beginning, end, allowed: /^[^\P{ASCII}\p{Cc}"\\]{8}$/u });
  const { text } = JSON.parse(after.slice(1)) as { text: [string] };
  await platform.ingest([author(text[0])]);
  await platform.settle();
  assert.deepEqual(await platform.view('page', 'a'), { title: 'News', text });
  const sequences = await reported(platform);
  assert.ok(sequences.length === 1 && sequences.every((later) => later > sequence), String(sequences));
});

test('chosen texts: a record with the old digest of its bytes is recognized', () => {
  const bytes = storedView('text');
  assert.ok(isDigestOf(contentDigest(bytes), bytes));
  assert.ok(isDigestOf(digestOf(bytes), bytes));
  assert.ok(!isDigestOf(contentDigest(bytes), storedView('other')));
});
