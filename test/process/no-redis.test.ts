import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, test } from 'node:test';
import { freePort } from '../../src/cli/start/ports.ts';
import { programWords } from '../../src/typescript/clone-or-package.mjs';
import { root, run, temporaryFolder } from '../cli/support/command.ts';
import { isAlive } from '../support/is-alive.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const entryPoints = { web: 'web', worker: 'partition', jobs: 'jobs' } as const;

/** Runs a process of the Procfile that is expected not to start. @returns the lines that it prints */
async function failing(role: keyof typeof entryPoints, env: Record<string, string>): Promise<string[]> {
  const file = path.join(root, 'workers', `${entryPoints[role]}.ts`);
  const settings = { REDIS_URL: '', REDIS_CLUSTER: '', PORT: '0', ...env };
  const { code, stdout, stderr } = await run(process.execPath, [...programWords, file], { env: settings });
  assert.equal(code, 1, stderr);
  return `${stdout}${stderr}`.trim().split('\n');
}

describe('no Redis: a process ends with one line that says what is wrong and what to do', () => {
  for (const role of ['web', 'worker', 'jobs'] as const) {
    test(`${role}: nothing listens at REDIS_URL`, async () => {
      const port = await freePort('127.0.0.1');
      const lines = await failing(role, { REDIS_URL: `redis://me:secret@127.0.0.1:${port}` });
      assert.equal(lines.length, 1, lines.join('\n'));
      const [line = ''] = lines;
      assert.match(line, new RegExp(`^${role}: Redis at redis://127\\.0\\.0\\.1:${port} does not respond`));
      assert.match(
        line,
        /Start it, or correct the setting that names it \(REDIS_URL, REDIS_CLUSTER or REDIS_SENTINEL\)/,
      );
      assert.doesNotMatch(line, /secret|max retries/);
    });

    test(`${role}: there is no REDIS_URL, and no npm start has run`, async (context) => {
      const lines = await failing(role, { DATA_DIR: await temporaryFolder(context) });
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0] ?? '', new RegExp(`^${role}: No platform has run with .* npm start .*REDIS_URL`));
    });
  }

  test('web: the password is wrong', async () => {
    const redis = await TestRedis.start();
    const lines = await failing('web', { REDIS_URL: redis.url.replace('//', '//nobody:secret@') });
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0] ?? '', /rejects this login .*Correct the user and password in REDIS_URL/);
  });
});

test('no Redis: a process started by `millrace worker` ends when that is killed without notice', async (context) => {
  const redis = await TestRedis.start();
  const program = spawn(process.execPath, [path.join(root, 'src/cli/millrace.mjs'), 'worker'], {
    env: { ...process.env, REDIS_URL: redis.url, WORKER_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => program.kill('SIGKILL'));
  // It writes its first line when it runs.
  const [line] = await once(program.stdout, 'data');
  const pid = Number(/"pid":(\d+)/.exec(String(line))?.[1]);
  assert.ok(isAlive(pid) && pid !== program.pid, String(line));
  program.kill('SIGKILL');
  await until('its child process is gone', () => !isAlive(pid), 20_000);
});
