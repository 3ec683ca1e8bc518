import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';
import { root, run } from '../cli/support/command.ts';
import { TestRedis } from '../support/redis.ts';

const redis = await TestRedis.start();

/** The last line of a front that is expected not to start. */
async function lastLine(env: Record<string, string>): Promise<string> {
  const words = [...typeScriptWords, path.join(root, 'workers/web.ts')];
  const settings = { REDIS_URL: redis.url, CONFIG_DIR: 'config', PORT: '0', ...env };
  const { code, stderr } = await run(process.execPath, words, { env: settings });
  assert.equal(code, 1, stderr);
  return stderr.trim().split('\n').at(-1) ?? '';
}

async function usedPort(context: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('ports: a front that cannot listen names the address and the settings to change', async (context) => {
  const port = await usedPort(context);
  for (const [host, portSetting] of [
    ['127.0.0.1', String(port)],
    ['203.0.113.7', '4000'],
    ['no-such-host.invalid', '4000'],
  ] as const) {
    assert.equal(
      await lastLine({ HOST: host, PORT: portSetting }),
      `web: cannot listen on ${host}:${portSetting}: another program uses the port, or it is not an address of this machine. ` +
        'Change PORT or HOST',
    );
  }
});

test('ports: a process that cannot listen on METRICS_PORT names that setting', async (context) => {
  const port = await usedPort(context);
  assert.equal(
    await lastLine({ METRICS_PORT: String(port) }),
    `web: cannot listen on 127.0.0.1:${port} for metrics (EADDRINUSE): give each process on a host its own METRICS_PORT`,
  );
});
