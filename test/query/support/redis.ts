/** A Redis of a test file's own: empty, without files, gone with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after } from 'node:test';
import { openStore, type Store } from '../../../src/store/store.ts';
import { until } from './until.ts';

export interface TestRedis {
  readonly url: string;
  /** A store with its own connection, on an emptied Redis. */
  openEmpty(partitionCount: number): Promise<Store>;
  /** Another connection to the same store, as another process would have. */
  openMore(partitionCount: number): Promise<Store>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Call it once at the top of a test file. */
export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  const redisArguments = ['--port', String(port), '--save', '', '--appendonly', 'no', '--bind', '127.0.0.1'];
  const server: ChildProcess = spawn('redis-server', redisArguments, { stdio: 'ignore' });
  const stores: Store[] = [];
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    server.kill('SIGKILL');
    await once(server, 'exit');
  });
  const url = `redis://127.0.0.1:${port}`;
  const openMore = async (partitionCount: number) => {
    const store = await openStore({ address: { kind: 'single', url }, partitionCount });
    stores.push(store);
    return store;
  };
  const first = await openMore(1);
  await until('Redis answers', async () => (await first.client.ping()) === 'PONG');
  return {
    url,
    openMore,
    openEmpty: async (partitionCount) => {
      await first.client.flushall();
      return openMore(partitionCount);
    },
  };
}
