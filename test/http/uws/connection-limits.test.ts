import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../src/cli/start/ports.ts';
import { programWords } from '../../../src/typescript/clone-or-package.mjs';
import { root } from '../../cli/support/command.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const onlyOnLinux = { skip: process.platform === 'linux' ? false : '/proc tells processor time on Linux' };
const filesMax = 256;
const connections = 400;
const watchMs = 3_000;
/** USER_HZ, see proc(5): the same on every Linux in use. */
const tickMs = 10;

/** Processor time that a process has used, in all its threads. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return tickMs * (Number(fields[14 - 3]) + Number(fields[15 - 3]));
}

test(
  'connection limits: a front out of file descriptors refuses connections, does not spin, and keeps serving open ones',
  onlyOnLinux,
  async () => {
    const redis = await TestRedis.start();
    const port = await freePort('127.0.0.1');
    const words = [process.execPath, ...programWords, path.join(root, 'workers/web.ts')];
    const front = spawn('sh', ['-c', `ulimit -n ${filesMax}; exec "$@"`, 'sh', ...words], {
      env: {
        ...process.env,
        REDIS_URL: redis.url,
        PORT: String(port),
        CONFIG_DIR: path.join(root, 'config'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let log = '';
    front.stdout.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const exited = once(front, 'exit');
    const sockets: Socket[] = [];
    const askOn = (socket: Socket) => {
      socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
      return Promise.race([once(socket, 'data'), sleep(5_000, null)]);
    };
    const open = () => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      sockets.push(socket);
      return socket;
    };
    try {
      await until('the front listens', () => log.includes('listening'));
      const early = open();
      assert.notEqual(await askOn(early), null);
      for (let count = 0; count < connections; count += 1) open();
      await until('each is accepted or refused', () => sockets.every(({ connecting }) => !connecting));

      const before = cpuMs(front.pid ?? 0);
      await sleep(watchMs);
      const used = cpuMs(front.pid ?? 0) - before;
      // A process that keeps trying to accept a connection would use all of the time.
      assert.ok(used < watchMs / 6, `${used} ms of processor time in ${watchMs} ms`);

      assert.notEqual(await askOn(early), null, 'open connections are served');
      const refused = sockets.filter(({ closed }) => closed).length;
      assert.ok(refused >= connections - filesMax, `${refused} refused`);
      assert.match(log, /connections are rejected/);
      for (const socket of sockets) if (socket !== early) socket.destroy();
      await until('there is room again', async () => (await askOn(open())) !== null);
    } finally {
      for (const socket of sockets) socket.destroy();
      front.kill('SIGTERM');
      await exited;
    }
  },
);
