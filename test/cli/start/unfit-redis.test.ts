import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { programWords } from '../../../src/typescript/clone-or-package.mjs';
import { TestRedis } from '../../support/redis.ts';
import { root, runCommand, temporaryFolder } from '../support/command.ts';

const redis = await TestRedis.start();
const refusal =
  /^[^\n]*the Redis of REDIS_URL has a maxmemory of 104857600 bytes .*allkeys-lru[^\n]*noeviction[^\n]*\n$/;

test('unfit Redis: every process and command refuses a Redis that would evict data, and says what to do', async (context) => {
  const client = new Redis(redis.url);
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await client.config('SET', 'maxmemory', '100mb');
  client.disconnect();
  const env = { REDIS_URL: redis.url, REDIS_CLUSTER: '', PARTITIONS: '4', PORT: '0', DEMO: 'off' };
  const folder = await temporaryFolder(context);
  const commands = [
    ['start'],
    ['apply'],
    ['verify'],
    ['diagnostics'],
    ['backup', path.join(folder, 'backup')],
  ] as const;
  for (const [command, ...words] of commands) {
    const { code, stderr } = await runCommand(command, words, { env: { ...env, DATA_DIR: folder } });
    assert.equal(code, 1, `${command}: ${stderr}`);
    assert.match(stderr, refusal, command);
  }
  for (const entry of ['web', 'partition', 'jobs']) {
    const words = [...programWords, path.join(root, `workers/${entry}.ts`)];
    const child = spawn(process.execPath, words, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 1, `${entry}: ${stderr}`);
    assert.match(stderr, refusal, entry);
  }
});
