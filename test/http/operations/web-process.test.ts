import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { applyFolder } from '../../../src/cli/configuration/publish-configuration.ts';
import { openStore } from '../../../src/store/store.ts';
import { programWords } from '../../../src/typescript/clone-or-package.mjs';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const port = 7141;
const tenant = {
  environments: [{ id: '11111111-1111-4111-8111-111111111111', alias: 'production' }],
  sourceGroups: [
    {
      alias: 'cms',
      autoIndex: false,
      sources: [
        {
          id: '22222222-2222-4222-8222-222222222222',
          name: 'CMS',
          environments: ['production'],
          apiKeys: ['source-key'],
        },
      ],
    },
  ],
  domains: [],
  environmentClients: [],
};

test('web process: a front logs its address, finishes open requests after SIGTERM, and exits with 0', async () => {
  const redis = await TestRedis.open();
  const configDir = await mkdtemp(join(tmpdir(), 'millrace-web-'));
  await mkdir(join(configDir, 'tenants/one'), { recursive: true });
  await writeFile(join(configDir, 'tenants/one/tenant.json'), JSON.stringify(tenant));
  const env = {
    ...process.env,
    REDIS_URL: redis.url,
    PORT: String(port),
    HOST: '127.0.0.1',
    CONFIG_DIR: configDir,
  };
  const front = spawn(process.execPath, [...programWords, 'workers/web.ts'], { env });
  try {
    const output: string[] = [];
    front.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
    front.stderr.setEncoding('utf8').on('data', (text: string) => output.push(text));
    while (!output.join('').includes('listening')) {
      await Promise.race([
        once(front.stdout, 'data'),
        once(front, 'exit').then(() => assert.fail(output.join(''))),
      ]);
    }
    assert.match(output.join(''), /"port":7141/);
    const ready = await fetch(`http://127.0.0.1:${port}/health/ready`);
    assert.deepEqual([ready.status, ((await ready.json()) as { status: number }).status], [503, 503]);

    const body = '[{"originId":"a","type":"t","properties":{}}]';
    const saving = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/ingest/v2',
      headers: { 'X-Api-Key': 'source-key', 'Content-Length': body.length },
    });
    saving.write(body.slice(0, 10));
    await fetch(`http://127.0.0.1:${port}/health/live`);
    const exited = once(front, 'exit');
    front.kill('SIGTERM');
    while (!output.join('').includes('stopping')) await once(front.stdout, 'data');
    saving.end(body.slice(10));
    const [response] = await once(saving, 'response');
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers.connection, 'close');
    response.resume();
    assert.deepEqual(await exited, [0, null]);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health/live`));
  } finally {
    front.kill('SIGKILL');
    await redis.stop();
    await rm(configDir, { recursive: true });
  }
});

test('web process: a front of a store without a configuration listens, and serves once there is one', async () => {
  const redis = await TestRedis.open();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-web-'));
  const env = { ...process.env, REDIS_URL: redis.url, PORT: '7142', HOST: '127.0.0.1', LOG_LEVEL: 'info' };
  const { CONFIG_DIR: _, ...withoutFolder } = env as NodeJS.ProcessEnv;
  const front = spawn(process.execPath, [...programWords, join(process.cwd(), 'workers/web.ts')], {
    cwd: folder,
    env: withoutFolder,
  });
  const output: string[] = [];
  front.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  front.stderr.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const exited = once(front, 'exit');
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:7142${path}`, init);
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  try {
    await until('the front listens', () => output.join('').includes('web is listening'), 30_000);
    assert.equal((await ask('/health/live')).status, 200);
    const ready = await ask('/health/ready');
    assert.equal(ready.status, 503);
    const { status, waitingFor, code, requestId, ...others } = JSON.parse(ready.text);
    assert.deepEqual([status, code, requestId], [503, 'notReady', ready.headers.get('x-request-id')]);
    assert.deepEqual(others, {});
    assert.ok(waitingFor.includes('the configuration'), ready.text);
    assert.equal((await ask('/openapi.json')).status, 200);
    assert.match((await ask('/metrics')).text, /^millrace_ready\{.*\} 0$/m);
    const headers = { 'X-Api-Key': 'source-key', Origin: 'https://example.com' };
    const requests: [string, RequestInit?][] = [
      ['/v2?url=/'],
      ['/v1/things', { method: 'POST', body: '{}' }],
      ['/routes/v1'],
      ['/ingest/v2', { method: 'POST', body: '[]' }],
      ['/ingest/v2/a', { method: 'DELETE' }],
      ['/management/v1/status'],
      ['/mcp', { method: 'POST', body: '{}' }],
    ];
    for (const [path, init] of requests) {
      const answer = await ask(path, { ...init, headers });
      assert.equal(answer.status, 503, `${path}: ${answer.text}`);
      assert.notEqual(answer.headers.get('retry-after'), null, path);
    }

    await mkdir(join(folder, 'config/tenants/one'), { recursive: true });
    await writeFile(join(folder, 'config/tenants/one/tenant.json'), JSON.stringify(tenant));
    const store = await openStore({ address: { kind: 'single', url: redis.url }, partitionCount: 16 });
    const settings = {
      configDir: join(folder, 'config'),
      isConfigDirGiven: true,
      isConfigDirOwn: false,
      demo: false,
    };
    await applyFolder(store, settings, { onWarnings: () => {}, consent: () => {} });
    await store.close();
    const entity = '[{"originId":"a","type":"t","properties":{}}]';
    await until('it accepts entities', async () => {
      const { status } = await ask('/ingest/v2', { method: 'POST', body: entity, headers });
      return status === 200;
    });
    assert.ok(!output.join('').includes('"level":50'), output.join(''));
    front.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  } finally {
    front.kill('SIGKILL');
    await redis.stop();
    await rm(folder, { recursive: true });
  }
});
