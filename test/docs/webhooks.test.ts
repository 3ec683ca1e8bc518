/** The program of "Webhooks" accepts the requests of the platform, and no others. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Webhook } from '../../src/config/configuration.ts';
import { AddressGuard } from '../../src/webhooks/allowed-addresses.ts';
import { changesMessage, signedPost } from '../../src/webhooks/message.ts';
import { post } from '../../src/webhooks/post.ts';
import { temporaryFolder } from '../cli/support/command.ts';
import { type Received, Receiver } from '../system/support/receiver.ts';
import { blocksOf, root, textOf } from './support/markdown.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const nextSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const foreignSecret = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const nowhere = { urls: [], handles: [], redirects: [] };
const change = {
  id: 'gid://Environment/e/Source/s/Entity/one/View/page',
  alias: 'page',
  sourceGroup: 'cms',
  originId: 'one',
  type: 'page',
  action: 'set' as const,
  ...nowhere,
  left: nowhere,
  tags: ['narrow', 'wide'],
  version: 'v1-1',
  at: '2026-01-01T00:00:00.000Z',
};

const receiver = new Receiver();
let webhook: Webhook;

before(async () => {
  const port = await receiver.listen();
  webhook = {
    alias: 'copy',
    environment: { id: 'e', alias: 'production' },
    url: `http://127.0.0.1:${port}/copy`,
    secrets: [secret, nextSecret],
    schemas: null,
    isDestination: false,
    isExpanded: false,
    batch: { size: 100, seconds: 0 },
    headers: new Map(),
    format: 'standard',
  };
});
after(() => receiver.close());

/** The request that a receiver of a change gets. */
async function received(own: Partial<Webhook> = {}, now = new Date()): Promise<Received> {
  const hook = { ...webhook, ...own };
  const message = changesMessage(hook, ['place'], [change], '');
  await post(signedPost(hook, message, now), new AddressGuard(['127.0.0.1']), new AbortController().signal);
  const last = receiver.received.at(-1);
  assert.ok(last !== undefined);
  return last;
}

/**
 * @returns a function that runs the program with a request, and returns the tags that it purges. It fails if the program throws
 */
async function program(
  context: TestContext,
): Promise<(request: Pick<Received, 'text' | 'headers'>, secret: string) => Promise<string>> {
  const [snippet, ...others] = blocksOf(textOf('docs/reference/webhooks.md')).filter(
    ({ language }) => language === 'js',
  );
  assert.deepEqual(others, [], 'every program of the page is run here');
  const folder = await temporaryFolder(context);
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  await writeFile(path.join(folder, 'snippet.mjs'), snippet?.text ?? '');
  await writeFile(
    path.join(folder, 'run.mjs'),
    `Object.assign(globalThis, JSON.parse(process.argv[2]), { forget: async (tags) => console.log(tags.join()) });
await import('./snippet.mjs');`,
  );
  return async ({ text, headers }, known) => {
    const words = [path.join(folder, 'run.mjs'), JSON.stringify({ body: text, headers })];
    const env = { ...process.env, WEBHOOK_SECRET: known };
    const { stdout } = await promisify(execFile)(process.execPath, words, { env });
    return stdout.trim();
  };
}

test('webhooks guide: requests of the platform are accepted with either secret', async (context) => {
  const run = await program(context);
  const request = await received();
  for (const known of [secret, nextSecret]) assert.equal(await run(request, known), 'narrow,wide');
});

test('webhooks guide: altered, foreign or old requests are not accepted', async (context) => {
  const run = await program(context);
  const request = await received();
  const refused = /WebhookVerificationError/;
  await assert.rejects(run({ ...request, text: request.text.replace('narrow', 'other') }, secret), refused);
  await assert.rejects(run(request, foreignSecret), refused);
  const headers = { ...request.headers, 'webhook-id': 'msg_of_another' };
  await assert.rejects(run({ ...request, headers }, secret), refused);
  const anHourAgo = new Date(Date.now() - 3_600_000);
  await assert.rejects(run(await received({}, anHourAgo), secret), refused);
});
