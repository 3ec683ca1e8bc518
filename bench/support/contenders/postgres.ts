/** Runs PostgreSQL for a benchmark, as durable as our default: every commit is on disk before it is acknowledged. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { BenchContext } from '../bench.ts';
import { installPeers, requirePeer } from '../peers.ts';
import { host, ports } from '../ports.ts';
import { findTool } from '../tools.ts';
import { startServer } from './server-process.ts';

export interface SqlQuery {
  /** Name of the prepared statement, created once per connection. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** The part of npm's `pg` that is used here. */
export interface SqlConnection {
  connect(): Promise<unknown>;
  query(query: SqlQuery): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
  end(): Promise<void>;
}

interface PgModule {
  readonly Client: new (options: Readonly<Record<string, unknown>>) => SqlConnection;
}

/** Each of these settings favors PostgreSQL or is needed for a fair comparison. All others have their defaults. */
const settings = {
  listen_addresses: host,
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  work_mem: '64MB',
  jit: 'off',
};

/** The settings, to print with a comparison. */
export const postgresSettingsText = Object.entries(settings)
  .filter(([name]) => !name.startsWith('listen') && !name.startsWith('unix'))
  .map(([name, value]) => `${name} ${value}`)
  .join(', ');

export interface Postgres {
  readonly version: string;
  /** The postmaster process, whose children serve the connections. */
  readonly pid: number;
}

/** Starts PostgreSQL. @returns null when it is not installed, after printing why */
export async function startPostgres(context: BenchContext): Promise<Postgres | null> {
  const initdb = findTool('initdb', 'postgresql', context.say);
  const postgres = initdb === null ? null : path.join(path.dirname(initdb), 'postgres');
  if (initdb === null || postgres === null) return null;
  installPeers();
  const user = serverUser();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'millrace-bench-postgres-'));
  context.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const words = ['-D', folder, '-U', 'bench', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const { status, stderr } = spawnSync(initdb, words, { encoding: 'utf8', cwd: '/', ...(user ?? {}) });
  if (status !== 0) {
    context.say(`PostgreSQL is skipped: initdb failed: ${stderr.trim()}`);
    return null;
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const port = ports.postgres;
  const { pid } = await startServer(context, {
    program: postgres,
    words: ['-D', folder, '-p', String(port), ...options],
    port,
    user,
  });
  const connection = await connectPostgres();
  const { rows } = await connection.query({ text: 'show server_version' });
  await connection.end();
  return { version: `PostgreSQL ${String(rows[0]?.server_version).split(' ')[0]}`, pid: pid ?? 0 };
}

export async function connectPostgres(): Promise<SqlConnection> {
  const { Client }: PgModule = requirePeer('pg');
  for (let attempt = 1; ; attempt += 1) {
    const connection = new Client({ host, port: ports.postgres, user: 'bench', database: 'postgres' });
    try {
      await connection.connect();
      return connection;
    } catch (error) {
      // PostgreSQL accepts connections shortly before it can serve them.
      if (attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** PostgreSQL refuses to run as root. Its package creates a user. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
