/** A Redis of a test file's own: empty, without files, gone with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after } from 'node:test';
import { Redis } from 'ioredis';
import { openStore, type Store } from '../../../src/store/store.ts';

export interface TestRedis {
  /** A store with its own connection, on an emptied database. */
  openEmpty(partitionCount: number, database?: number): Promise<Store>;
  /** Another connection to the same store, as another process would have. */
  openMore(partitionCount: number, database?: number): Promise<Store>;
  /** Ends something before the stores are closed. */
  onEnd(end: () => Promise<unknown>): void;
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
  const ends: (() => Promise<unknown>)[] = [];
  after(async () => {
    await Promise.all(ends.map((end) => end()));
    await Promise.all(stores.map((store) => store.close()));
    server.kill('SIGKILL');
    await once(server, 'exit');
  });
  const openMore = async (partitionCount: number, database = 0) => {
    const address = { kind: 'single', url: `redis://127.0.0.1:${port}/${database}` } as const;
    const store = await openStore({ address, partitionCount });
    stores.push(store);
    return store;
  };
  const openEmpty = async (partitionCount: number, database = 0) => {
    const client = new Redis(port, '127.0.0.1', { db: database });
    await client.flushdb();
    client.disconnect();
    return openMore(partitionCount, database);
  };
  return { openEmpty, openMore, onEnd: (end) => ends.push(end) };
}
