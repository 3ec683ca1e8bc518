import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { programWords } from '../../../src/typescript/clone-or-package.mjs';
import { root, runCommand, temporaryFolder } from '../../cli/support/command.ts';
import { writeFiles } from '../../jobs/support/platform.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { siteFiles } from '../../system/support/site.ts';

const port = 7271;
const prefix = 'plain-text-';
/** The keys in the tenant's file, and an unknown key that may exist elsewhere. */
const keys = {
  source: `${prefix}source-key-of-the-system-tests`,
  client: `${prefix}client-key-of-the-system-tests`,
  unknown: 'a-key-of-another-platform',
};

/** Everything that was ever sent to Redis, and everything that it stores. */
class Witness {
  text = '';

  private constructor(
    private readonly client: Redis,
    private readonly monitor: Redis,
  ) {}

  static async of(url: string): Promise<Witness> {
    const client = new Redis(url);
    const monitor = await client.monitor();
    const witness = new Witness(client, monitor);
    monitor.on('monitor', (_time: string, words: string[]) => {
      witness.text += `${words.join(' ')}\n`;
    });
    return witness;
  }

  /** Records what is stored now. */
  async look(): Promise<void> {
    for (const key of await this.client.keys('*')) this.text += `${key} ${await dump(this.client, key)}\n`;
  }

  close(): void {
    for (const client of [this.monitor, this.client]) {
      client.removeAllListeners();
      client.on('error', () => {});
      client.disconnect();
    }
  }
}

async function dump(client: Redis, key: string): Promise<string> {
  const type = await client.type(key);
  if (type === 'string') return String(await client.get(key));
  if (type === 'hash') return JSON.stringify(await client.hgetall(key));
  if (type === 'stream') return JSON.stringify(await client.xrange(key, '-', '+'));
  if (type === 'zset') return JSON.stringify(await client.zrangebyscore(key, '-inf', '+inf'));
  if (type === 'set') return JSON.stringify(await client.smembers(key));
  return JSON.stringify(await client.lrange(key, 0, -1));
}

test('key secrecy: no key appears in logs, errors, metrics, heartbeats, backups or anywhere in Redis', async (context) => {
  const folder = await temporaryFolder(context);
  const configDir = path.join(folder, 'config');
  writeFiles(configDir, siteFiles({ keyPrefix: prefix }));
  const redis = await TestRedis.open();
  const witness = await Witness.of(redis.url);
  context.after(() => witness.close());
  const env = {
    REDIS_URL: redis.url,
    REDIS_CLUSTER: '',
    CONFIG_DIR: configDir,
    HOST: '127.0.0.1',
    PORT: String(port),
    PARTITIONS: '2',
    LOG_LEVEL: 'trace',
    RATE_LIMIT: '30',
  };
  const front = spawn(process.execPath, [...programWords, 'workers/web.ts'], {
    cwd: root,
    env: { ...process.env, ...env },
  });
  let output = '';
  for (const stream of [front.stdout, front.stderr]) {
    stream.on('data', (text: Buffer) => {
      output += text.toString();
    });
  }
  try {
    await until('the front listens', () => output.includes('web is listening'));
    const base = `http://127.0.0.1:${port}`;
    const answers: string[] = [];
    const ask = async (method: string, at: string, key: string, body?: string) => {
      const response = await fetch(`${base}${at}`, {
        method,
        headers: { 'X-Api-Key': key },
        ...(body === undefined ? {} : { body }),
      });
      const headers = JSON.stringify([...response.headers]);
      answers.push(`${response.status} ${headers} ${await response.text()}`);
    };
    const entity = '{"type":"page","properties":{"title":"A"}}';
    for (const key of Object.values(keys)) {
      for (const body of [entity, '{', '[]']) await ask('POST', '/ingest/v2/a', key, body);
      await ask('POST', '/ingest/v2', key, '[{"originId":"b","type":"page"}]');
      await ask('GET', '/v2?handle=a', key);
      await ask('GET', '/v2?url=%ff', key);
      await ask('GET', '/routes/v1?first=1', key);
      await ask('DELETE', '/ingest/v2/a', key);
      await ask('PATCH', '/ingest/v2/a', key);
    }
    // Concurrently, because a busy machine might take seconds for them one after the other.
    await Promise.all(Array.from({ length: 100 }, () => ask('GET', '/routes/v2', keys.client)));
    assert.ok(answers.some((answer) => answer.startsWith('429 ')));
    await until('a heartbeat was published', () => witness.text.includes('"role":"web"'));
    await ask('GET', '/metrics', keys.client);
    assert.ok(answers.some((answer) => answer.includes('millrace_http_requests')));
    await ask('GET', '/openapi.json', keys.client);

    const file = path.join(folder, 'backup.gz');
    const backup = await runCommand('backup', [file], { env });
    assert.equal(backup.code, 0, backup.stderr);
    await witness.look();
    witness.close();
    // Failures are reported with their errors, which must not reveal keys.
    await redis.stop();
    await ask('GET', '/v2?handle=b', keys.client);
    await ask('POST', '/ingest/v2/c', keys.source, entity);
    front.kill('SIGTERM');
    await once(front, 'exit');

    assert.ok(witness.text.includes('sha256:'), 'the configuration is in Redis, its keys as hashes');
    const places = {
      output,
      answers: answers.join('\n'),
      redis: witness.text,
      backup: gunzipSync(await readFile(file)).toString(),
      command: backup.stdout + backup.stderr,
    };
    for (const [place, text] of Object.entries(places)) {
      assert.ok(text.length > 10, place);
      for (const key of Object.values(keys)) assert.ok(!text.includes(key), `${place} shows ${key}`);
    }
  } finally {
    front.kill('SIGKILL');
    await redis.stop();
  }
});
