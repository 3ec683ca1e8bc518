import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { freePort } from '../../../src/cli/start/ports.ts';
import { TestRedis } from '../../support/redis.ts';
import { type CommandResult, runCommand } from '../support/command.ts';

const redis = await TestRedis.start();

/** Far below the minute for which the client library keeps timers of lost commands. */
const endsMs = 20_000;

async function failing(env: NodeJS.ProcessEnv, command = 'diagnostics'): Promise<CommandResult> {
  const startedMs = performance.now();
  const result = await runCommand(command, [], {
    env: { REDIS_URL: '', REDIS_CLUSTER: '', REDIS_SENTINEL: '', PARTITIONS: '4', ...env },
  });
  assert.equal(result.code, 1, result.stderr);
  assert.ok(performance.now() - startedMs < endsMs, 'the command prints its error and then does not end');
  return result;
}

/** The only line that a failing command prints. */
async function failureOf(env: NodeJS.ProcessEnv): Promise<string> {
  const { stderr } = await failing(env);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
  return stderr.trim();
}

async function listening(context: TestContext, server: Server): Promise<number> {
  const port = await freePort('127.0.0.1');
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  context.after(() => server.close());
  return port;
}

describe('store failure: a command that cannot open the store says why and what to do, and ends', () => {
  test('nothing listens', async () => {
    const port = await freePort('127.0.0.1');
    assert.match(
      await failureOf({ REDIS_URL: `redis://127.0.0.1:${port}` }),
      new RegExp(
        `does not respond \\(connect ECONNREFUSED 127\\.0\\.0\\.1:${port}\\)\\. Start it, or correct`,
      ),
    );
    const refused = new RegExp(
      `does not respond \\(connect ECONNREFUSED 127\\.0\\.0\\.1:${port}\\)\\. Start it, or correct`,
    );
    assert.match(await failureOf({ REDIS_CLUSTER: `127.0.0.1:${port}` }), refused);
    const sentinel = { REDIS_SENTINEL: `127.0.0.1:${port}`, REDIS_SENTINEL_NAME: 'main' };
    assert.match(await failureOf(sentinel), /^Redis at main \(Sentinel\) does not respond/);
    assert.match(await failureOf(sentinel), refused);
  });

  test('the host name does not resolve', async () => {
    const reason = /cannot be reached \(getaddrinfo \w+ redis\.invalid\)\. Correct the host name/;
    assert.match(await failureOf({ REDIS_URL: 'redis://redis.invalid:6379' }), reason);
    assert.match(await failureOf({ REDIS_CLUSTER: 'redis.invalid:6379,127.0.0.1:1' }), reason);
    const sentinel = { REDIS_SENTINEL: 'redis.invalid:26379', REDIS_SENTINEL_NAME: 'main' };
    assert.match(await failureOf(sentinel), reason);
  });

  test('the number of the database is too high', async () => {
    assert.match(
      await failureOf({ REDIS_URL: `${redis.url}/99` }),
      /does not have this database \(ERR DB index is out of range\)\. Correct the number at the end of REDIS_URL/,
    );
  });

  test('the server requires TLS, so it closes the connection', async (context) => {
    const port = await listening(
      context,
      createServer((socket) => socket.on('error', () => {}).once('data', () => socket.resetAndDestroy())),
    );
    assert.match(
      await failureOf({ REDIS_URL: `redis://127.0.0.1:${port}` }),
      /closes the connection \(.*ECONNRESET\)\. If it requires TLS, write rediss:/,
    );
  });

  test('the server does not use TLS', async () => {
    assert.match(
      await failureOf({ REDIS_URL: redis.url.replace('redis:', 'rediss:') }),
      /does not respond over TLS \(no response within 5 s\)\. .* write redis:\/\/ in REDIS_URL/,
    );
  });

  test('another program listens', async (context) => {
    const port = await listening(
      context,
      createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    assert.match(
      await failureOf({ REDIS_URL: `redis://127.0.0.1:${port}` }),
      /does not speak the protocol of Redis \(.*\)\. Correct the setting that names it/,
    );
  });
});

test('store failure: a user without all permissions is told which it needs, also during a command', async (context) => {
  const admin = new Redis(redis.url);
  context.after(() => admin.disconnect());
  await admin.call('ACL', 'SETUSER', 'narrow', 'on', '>secret', '~*', '+@all', '-publish');
  const url = redis.url.replace('//', '//narrow:secret@');
  const { stderr } = await failing({ REDIS_URL: url, CONFIG_DIR: 'config' }, 'apply');
  assert.match(stderr, /does not give this user all permissions .*NOPERM.*\. Grant them: ACL SETUSER/);
  assert.doesNotMatch(stderr, /secret|\n +at /);
});
