import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { formatViewId } from '../../../src/contract/ids.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { webhookBatchSecondsMax } from '../../../src/contract/limits.ts';
import { runCommand, temporaryFolder } from '../../cli/support/command.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { configure, manage, managed } from '../support/manage.ts';
import { sharedEnvironment, sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import {
  type Received,
  Receiver,
  type SentChange,
  verified,
  webhookSecret,
  webhookTo,
} from '../support/receiver.ts';
import {
  clientKey,
  environmentId,
  managementKey,
  siteFiles,
  sourceId,
  sourceKey,
  viewIdOf,
} from '../support/site.ts';

const secret = webhookSecret;
const nextSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const headerValue = 'Bearer-of-the-receiver';

const receiver = new Receiver();
let port = 0;
let system: System;
let client: Client;

const filesWith = (webhooks: readonly JsonObject[]) =>
  siteFiles({
    tenant: 'webhooks',
    schemas: {
      page: {
        triggers: { cms: ['page'] },
        route: { url: '{url}' },
        properties: { title: '{p.title}', part: { type: 'reference', alias: 'part', originId: '{p.part}' } },
        destinations: [
          { alias: 'search', options: { objectId: 'page-{originId}', nested: [{ title: '{p.title}' }] } },
        ],
      },
      part: { triggers: { cms: ['part'] }, properties: { title: '{p.title}' } },
      note: { triggers: { cms: ['note'] }, properties: { title: '{p.title}' } },
    },
    settings: {
      ...managed,
      webhooks: [...webhooks],
    },
  });

const hook = (alias: string, more?: JsonObject): JsonObject => webhookTo(port, alias, more);

before(async () => {
  port = await receiver.listen();
  system = await sharedPlatform(
    filesWith([
      hook('all', { secret: [secret, nextSecret], headers: { Authorization: headerValue } }),
      hook('gathered', { batch: { size: 3, seconds: 2 }, schemas: ['page'] }),
      hook('filled', { batch: { size: 3, seconds: webhookBatchSecondsMax }, schemas: ['note'] }),
      hook('search', { destination: true }),
      hook('shown', { expand: 'shown', schemas: ['part'] }),
      hook('hosted', { format: 'enterspeed', schemas: ['page'], headers: { 'X-Api-Key': 'access' } }),
      hook('failing', { schemas: ['page'] }),
      hook('wanting', { url: `http://localhost:${port}/wanting` }),
    ]),
  );
  client = system.client('web.1');
});
after(() => receiver.close());

async function save(originId: string, title: string, type = 'page', part = ''): Promise<void> {
  const url = type === 'page' ? `/${originId}/` : undefined;
  const body = { type, ...(url === undefined ? {} : { url }), properties: { title, part } };
  const answer = await client.post(`/ingest/v2/${originId}`, body, { key: sourceKey });
  assert.equal(answer.status, 200, JSON.stringify(answer));
}

const changesIn = (received: readonly Received[]): SentChange[] =>
  received.flatMap((one) => [...verified(one, secret).data.changes]);

interface Standing {
  readonly alias: string;
  readonly state: string;
  readonly behind: number;
  readonly lastStatus: number | null;
  readonly nextAttemptAt: string | null;
  readonly offset: string;
}

async function standing(alias: string): Promise<Standing> {
  const { json } = await manage(client, '/webhooks');
  const { webhooks } = json as unknown as { webhooks: Standing[] };
  const found = webhooks.find((one) => one.alias === alias);
  assert.ok(found !== undefined, JSON.stringify(json));
  return found;
}

test('webhooks: a change is sent to every webhook that subscribes to it, signed with each secret', async () => {
  await save('one', 'First', 'page', 'shared');
  const [first] = await receiver.count('/all', 1);
  assert.ok(first !== undefined);
  const message = verified(first, secret);
  assert.deepEqual(verified(first, nextSecret), message);
  assert.equal(first.headers.authorization, headerValue);
  assert.equal(first.headers['content-type'], 'application/json');
  assert.match(String(first.headers['webhook-id']), /^msg_/);
  assert.equal(message.type, 'views.changed');
  assert.ok(!Number.isNaN(Date.parse(message.timestamp)));
  const [change] = message.data.changes;
  const feed = await client.get('/changes/v1', { key: clientKey });
  const reported = (feed.json as unknown as { changes: SentChange[] }).changes;
  const withoutVersion = ({ version, ...rest }: SentChange & { version?: string }) => rest;
  assert.deepEqual(
    withoutVersion(change as SentChange),
    withoutVersion(reported.find(({ id }) => id === change?.id) as SentChange),
  );
  const [search] = await receiver.count('/search', 1);
  assert.deepEqual(changesIn([search as Received])[0]?.options, {
    objectId: 'page-one',
    nested: [{ title: 'First' }],
  });
});

test('webhooks: a destination receives only its schemas, and removals with the last options', async () => {
  await save('shared', 'Part', 'part');
  const [shown] = await receiver.count('/shown', 1);
  assert.deepEqual(changesIn([shown as Received])[0]?.shownOn, ['/one/']);
  await save('gone', 'Gone');
  await until('it is there', () =>
    changesIn(receiver.at('/search')).some(({ originId }) => originId === 'gone'),
  );
  await client.delete('/ingest/v2/gone', { key: sourceKey });
  await until('the removal', () =>
    changesIn(receiver.at('/search')).some(({ action }) => action === 'removed'),
  );
  const changes = changesIn(receiver.at('/search'));
  assert.ok(changes.every(({ alias }) => alias === 'page'));
  assert.deepEqual(changes.at(-1)?.options, { objectId: 'page-gone', nested: [{ title: 'Gone' }] });
});

test('webhooks: the format of the hosted service is one change per request', async () => {
  await until('the removal', () => receiver.at('/hosted').some(({ text }) => text.includes('Remove')));
  const view = viewIdOf;
  const received = receiver.at('/hosted');
  const [first] = received;
  assert.deepEqual(JSON.parse(first?.text ?? ''), {
    Id: view('one'),
    OriginId: 'one',
    Type: 'page',
    Action: 'Deploy',
    Url: `${sharedEnvironment.PUBLIC_URL}v2?id=${view('one')}`,
  });
  assert.deepEqual(JSON.parse(received.at(-1)?.text ?? ''), {
    Id: view('gone'),
    OriginId: 'gone',
    Type: 'page',
    Action: 'Remove',
  });
  assert.equal(first?.headers['x-api-key'], 'access');
  for (const one of received) verified(one, secret);
});

test('webhooks: changes are batched until a request is full or the batch time is over', async () => {
  await until('nothing is waiting', async () => (await standing('gathered')).behind === 0);
  const before = receiver.at('/gathered').length;
  for (const originId of ['a', 'b', 'c']) await save(originId, 'Together', 'note');
  // A full request is sent without waiting for the end of the batch time.
  const [full] = await receiver.count('/filled', 1, (webhookBatchSecondsMax / 2) * 1_000);
  assert.equal(changesIn([full as Received]).length, 3);
  await save('d', 'Alone');
  const alone = (await receiver.count('/gathered', before + 1)).at(before);
  assert.deepEqual(
    changesIn([alone as Received]).map(({ originId }) => originId),
    ['d'],
  );
});

test('webhooks: a failed request is retried with the same id, merged to the latest state, in order', async () => {
  await until('nothing is waiting', async () => (await standing('failing')).behind === 0);
  const before = receiver.at('/failing').length;
  receiver.answer = (response, { path }) => {
    response
      .writeHead(path === '/failing' ? 302 : 204, { Location: `http://127.0.0.1:${port}/elsewhere` })
      .end('x'.repeat(200_000));
  };
  await save('failed', 'First');
  await receiver.count('/failing', before + 1);
  await until('it is noticed', async () => (await standing('failing')).state === 'retrying');
  const { lastStatus, nextAttemptAt } = await standing('failing');
  assert.equal(lastStatus, 302);
  assert.ok(Date.parse(String(nextAttemptAt)) > Date.now());
  for (const title of ['Second', 'Third', 'Fourth']) await save('later', title);
  receiver.answer = (response) => response.writeHead(204).end();
  const [first, again, next] = (await receiver.count('/failing', before + 3)).slice(before);
  assert.ok(first && again && next);
  assert.equal(again.headers['webhook-id'], first.headers['webhook-id']);
  assert.ok(again.atMs - first.atMs >= 4_900, `${again.atMs - first.atMs} ms`);
  assert.notEqual(next.headers['webhook-id'], first.headers['webhook-id']);
  assert.deepEqual(
    changesIn([again, next]).map(({ originId }) => originId),
    ['failed', 'later'],
  );
  assert.equal(receiver.at('/elsewhere').length, 0);
  await until('it is healthy', async () => (await standing('failing')).state === 'ok');
});

test('webhooks: 410 disables; enable resumes; replay sets the cursor', async () => {
  receiver.answer = (response) => response.writeHead(410).end();
  await save('while-gone', 'First');
  await until('it is disabled', async () => (await standing('wanting')).state === 'disabled');
  receiver.answer = (response) => response.writeHead(204).end();
  const before = receiver.at('/wanting').length;
  assert.equal((await manage(client, '/webhooks/wanting/enable', { body: {} })).status, 200);
  const [missed] = (await receiver.count('/wanting', before + 1)).slice(before);
  assert.ok(changesIn([missed as Received]).some(({ originId }) => originId === 'while-gone'));
  for (const alias of ['all', 'gathered', 'search', 'shown', 'hosted', 'failing']) {
    await manage(client, `/webhooks/${alias}/enable`, { body: {} });
  }
  await until('nothing is waiting', async () => (await standing('wanting')).behind === 0);
  const count = receiver.at('/wanting').length;
  const replayed = await manage(client, '/webhooks/wanting/replay', { body: { since: 'beginning' } });
  assert.equal(replayed.status, 200, JSON.stringify(replayed.json));
  await receiver.count('/wanting', count + 1);
  await until('a full copy', () => {
    const ids = changesIn(receiver.at('/wanting').slice(count)).map(({ originId }) => originId);
    return ['one', 'shared', 'a', 'b', 'c', 'd', 'failed', 'later'].every((id) => ids.includes(id));
  });
  const { offset } = await standing('wanting');
  assert.equal((await manage(client, '/webhooks/wanting/replay', { body: { since: offset } })).status, 200);
  assert.equal((await manage(client, '/webhooks/wanting/replay', { body: { since: 'now' } })).status, 200);
  const foreign = `${offset.startsWith('A') ? 'B' : 'A'}${offset.slice(1)}`;
  assert.equal((await manage(client, '/webhooks/wanting/replay', { body: { since: foreign } })).status, 410);
  for (const wrong of [{ since: 'yesterday' }, { since: 5 }, {}, []]) {
    assert.equal(
      (await manage(client, '/webhooks/wanting/replay', { body: wrong })).status,
      422,
      JSON.stringify(wrong),
    );
  }
});

test('webhooks: the trace of a save or delete is sent with its change, and no other', async () => {
  const trace = (digit: number) => `00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333${digit}-01`;
  /** The `traceparent` header of the request with the next change of an entity. */
  const passedOn = async (originId: string, act: () => Promise<unknown>) => {
    const ofEntity = () =>
      receiver.at('/all').filter((one) => changesIn([one]).some((change) => change.originId === originId));
    const before = ofEntity().length;
    await act();
    await until(`a change of ${originId} is sent`, () => ofEntity().length > before);
    return ofEntity()[before]?.headers.traceparent;
  };
  const send = (originId: string, title: string, traceparent?: string) =>
    client.post(
      `/ingest/v2/${originId}`,
      { type: 'page', url: `/${originId}/`, properties: { title } },
      { key: sourceKey, ...(traceparent === undefined ? {} : { headers: { traceparent } }) },
    );
  assert.equal(await passedOn('traced', () => send('traced', 'one', trace(1))), trace(1));
  assert.equal(await passedOn('traced', () => send('traced', 'two', trace(2))), trace(2));
  assert.equal(await passedOn('untraced', () => send('untraced', 'one')), undefined);
  assert.equal(await passedOn('malformed', () => send('malformed', 'one', 'not-a-trace')), undefined);
  const entities = [{ originId: 'bulk', type: 'page', url: '/bulk/', properties: { title: 'one' } }];
  const bulk = () =>
    client.post('/ingest/v2', entities, { key: sourceKey, headers: { traceparent: trace(3) } });
  assert.equal(await passedOn('bulk', bulk), trace(3));
  const remove = () =>
    client.delete('/ingest/v2/bulk', { key: sourceKey, headers: { traceparent: trace(4) } });
  assert.equal(await passedOn('bulk', remove), trace(4));
});

test('webhooks: a test is sent, and the status of the receiver is reported', async () => {
  receiver.answer = (response) => response.writeHead(418).end();
  const { status, json } = await manage(client, '/webhooks/all/test', { body: {} });
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal((json as unknown as { status: number }).status, 418);
  assert.equal(typeof (json as unknown as { milliseconds: number }).milliseconds, 'number');
  const last = receiver.at('/all').at(-1);
  const { type, data } = verified(last as Received, nextSecret);
  assert.deepEqual([type, data], ['test', {}]);
  for (const traceparent of ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'not-a-trace']) {
    const headers = { traceparent };
    await client.post('/management/v1/webhooks/all/test', {}, { key: managementKey, headers });
    const passed = traceparent.startsWith('00-') ? traceparent : undefined;
    assert.equal(receiver.at('/all').at(-1)?.headers.traceparent, passed);
  }
  receiver.answer = (response) => response.writeHead(204).end();
  for (const action of ['test', 'enable']) {
    assert.equal((await manage(client, `/webhooks/nobody/${action}`, { body: {} })).status, 404);
  }
  assert.equal((await manage(client, '/webhooks/nobody/replay', { body: { since: 'now' } })).status, 404);
});

/** JSON and base64 encodings keep these letters. */
const hiddenTexts = [secret, nextSecret, headerValue].map((text) => text.replace('whsec_', ''));

function assertHidden(text: string, where: string): void {
  for (const hidden of hiddenTexts) assert.ok(!text.includes(hidden), `${where} shows ${hidden}`);
}

test('webhooks: secrets and header values are stored and never shown', async () => {
  const { json } = await manage(client, '/configuration');
  const { documents, digest } = json as unknown as { documents: Record<string, string>; digest: string };
  const shown = JSON.stringify(json);
  for (const hidden of [secret, nextSecret, headerValue]) assert.ok(!shown.includes(hidden));
  const { webhooks } = JSON.parse(documents['tenant.json'] ?? '') as { webhooks: Record<string, unknown>[] };
  assert.deepEqual(webhooks[0]?.secret, ['kept', 'kept']);
  assert.deepEqual(webhooks[0]?.headers, { Authorization: 'kept' });
  const put = (own: Record<string, string>) => configure(client, { documents: own });
  const same = await put(documents);
  assert.equal(same.status, 200, JSON.stringify(same.json));
  assert.equal((same.json as unknown as { digest: string }).digest, digest);
  const renamed = (documents['tenant.json'] ?? '').replace('"alias": "all"', '"alias": "unheard"');
  const refused = await put({ ...documents, 'tenant.json': renamed });
  assert.equal(refused.status, 422);
  assert.match(
    JSON.stringify(refused.json),
    /webhooks\[0\]\.secret\[0\].*webhooks\[0\]\.headers\.Authorization/s,
  );
  // A new webhook starts at the time when it was added.
  const more = JSON.parse(documents['tenant.json'] ?? '') as { webhooks: unknown[] };
  more.webhooks.push(hook('added'), hook('private', { url: `http://127.1.1.1.nip.invalid:${port}/private` }));
  const added = await put({ ...documents, 'tenant.json': JSON.stringify(more) });
  assert.equal(added.status, 200, JSON.stringify(added.json));
  await save('after', 'Added');
  const [first] = await receiver.count('/added', 1);
  assert.deepEqual(
    changesIn([first as Received]).map(({ originId }) => originId),
    ['after'],
  );
});

test('webhooks: no answer, log, backup or command shows a secret', async (context) => {
  const view = encodeURIComponent(formatViewId({ environmentId, sourceId, originId: 'one', alias: 'page' }));
  const asked = ['/configuration', '/webhooks', '/status', '/tenant', `/explain/view?id=${view}`];
  for (const place of [...asked, '/explain/url?url=/one/&environment=production']) {
    assertHidden((await manage(client, place)).text, place);
  }
  const { documents } = (await manage(client, '/configuration')).json as unknown as {
    documents: Record<string, string>;
  };
  const wrong = JSON.parse(documents['tenant.json'] ?? '') as { webhooks: Record<string, unknown>[] };
  wrong.webhooks = [
    { ...wrong.webhooks[0], secret: [secret, `${nextSecret}?`], headers: { 'Not a name': headerValue } },
    { ...wrong.webhooks[1], secret, headers: { Host: headerValue, Authorization: `${headerValue}\n` } },
  ];
  for (const query of ['', '?dryRun=true']) {
    const own = { ...documents, 'tenant.json': JSON.stringify(wrong) };
    const answer = await configure(client, { documents: own }, query);
    assert.equal(answer.status, 422);
    assertHidden(answer.text, `mistakes${query}`);
  }
  assertHidden((await client.get('/metrics')).text, '/metrics');
  const file = path.join(await temporaryFolder(context), 'backup.gz');
  const env = { ...(system.environment() as Record<string, string>), LOG_LEVEL: 'debug' };
  const backup = await runCommand('backup', [file], { env });
  assert.equal(backup.code, 0, backup.stderr);
  const lines = gunzipSync(await readFile(file)).toString();
  assertHidden(lines, 'a backup');
  assert.match(lines, /kept/);
  for (const command of ['diagnostics', 'verify']) {
    const { stdout, stderr } = await runCommand(command, [], { env });
    assertHidden(stdout + stderr, command);
  }
  assertHidden(system.outputs(), 'a log');
});

test('webhooks: check warns about rejected receivers, and shows no secret', async () => {
  const env = system.environment() as Record<string, string>;
  const check = (words: string[], more: Record<string, string>) =>
    runCommand('check', words, { env: { ...env, ...more } });
  const [sound, warned, strict] = await Promise.all([
    check([], {}),
    check([], { WEBHOOK_ALLOW: '' }),
    check(['--strict'], { WEBHOOK_ALLOW: '' }),
  ]);
  assert.deepEqual([sound.code, warned.code, strict.code], [0, 0, 1]);
  assert.ok(!sound.stdout.includes('WEBHOOK_ALLOW'), sound.stdout);
  assert.equal(warned.stdout.match(/the address is not public/g)?.length, 8);
  assert.match(warned.stdout, /webhooks\[0\]\.url/);
  for (const { stdout, stderr } of [sound, warned, strict]) assertHidden(stdout + stderr, 'check');
});
