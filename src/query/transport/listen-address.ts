/**
 * Where a worker listens: on TCP, with the address that it announces, and on a Unix domain socket that only processes of the
 * same user can reach.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstat, mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { hostname, networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { codeOf } from '../../lib/message-text.ts';

export interface ListenAddress {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The address for fronts; null for the host from `announcedHost` and the port that it listens on. */
  readonly announced: { readonly host: string; readonly port: number | null } | null;
}

/** Reachable only from the same machine. */
export const loopbackOnly: ListenAddress = { host: '127.0.0.1', port: 0, announced: null };

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

/**
 * The host to announce for a host that is listened on. For a wildcard address, the first address that other machines can reach.
 */
export function announcedHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host;
  const found = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  const best = found.find(({ family }) => family === 'IPv4') ?? (host === '::' ? found[0] : undefined);
  return best?.address ?? hostname();
}

/** Operating systems truncate longer paths. */
const pathBytesMax = 100;
/** Stale sockets of killed workers are removed after this time, by the next worker that starts. */
const staleMs = 60_000;

/** A path for a new socket, in a folder for all workers of this user; null if such sockets are not possible. */
export async function newSocketPath(): Promise<string | null> {
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  const folder = path.join(tmpdir(), `millrace-${uid}`);
  const file = path.join(folder, `${randomBytes(8).toString('hex')}.sock`);
  if (Buffer.byteLength(file) > pathBytesMax) return null;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const stats = await lstat(folder);
    // Another user may have created the folder, to intercept connections.
    if (!stats.isDirectory() || stats.uid !== uid || (stats.mode & 0o077) !== 0) return null;
    await removeStaleSockets(folder);
    return file;
  } catch {
    return null;
  }
}

async function removeStaleSockets(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    const stats = await stat(file).catch(() => null);
    if (stats === null || Date.now() - stats.mtimeMs < staleMs) continue;
    if (await isDead(file)) await unlink(file).catch(() => {});
  }
}

/** True if no process listens there. */
async function isDead(file: string): Promise<boolean> {
  const socket = createConnection(file);
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return codeOf(error) === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
