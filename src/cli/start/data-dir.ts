import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { CommandStop } from '../terminal/command-line.ts';

/**
 * Makes a folder and the missing ones above it, level by level. Node's own recursive `mkdir` never ends where nothing
 * can be made, as in `/proc`.
 * @param mode permissions of created folders; by default only for the current user
 * @throws CommandStop when that is not possible
 */
export function makeFolder(folder: string, mode = 0o700): void {
  try {
    makeMissing(folder, mode);
  } catch (error) {
    throw new CommandStop(
      `DATA_DIR cannot be created: ${error instanceof Error ? error.message : error}. Choose a folder that this user can write to.`,
    );
  }
}

function makeMissing(folder: string, mode: number): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const above = path.dirname(folder);
  if (above !== folder) makeMissing(above, mode);
  mkdirSync(folder, { mode });
}

/** The path of a socket must be short. The smallest limit of a system in use is 104 bytes. */
const socketPathBytesMax = 100;

/**
 * Takes a data folder for this process, because two Redis servers on one append-only file would destroy it. The lock is
 * a socket on which this process listens. So the lock ends with the process, however that ends.
 * @throws CommandStop when another `npm start` has the folder, or this user may not write into it
 */
export async function lockDataDir(dataDir: string): Promise<Server> {
  const socketPath = lockPath(dataDir);
  if (await someoneListens(socketPath)) throw inUse(dataDir);
  const server = createServer((socket) => socket.destroy());
  server.unref();
  try {
    // A file that is there now was left by a process that was killed.
    rmSync(socketPath, { force: true });
    server.listen(socketPath);
    await once(server, 'listening');
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) === 'EADDRINUSE') throw inUse(dataDir);
    throw new CommandStop(
      `Cannot write to DATA_DIR=${dataDir} (${codeOf(error)}). ` +
        'Give this user write permission, or choose another folder: DATA_DIR=.data2 npm start',
    );
  }
  return server;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

function inUse(dataDir: string): CommandStop {
  return new CommandStop(
    `Another npm start is using ${dataDir}. Stop it, or use another folder: DATA_DIR=.data2 npm start`,
  );
}

function lockPath(dataDir: string): string {
  const inside = path.join(realpathSync(dataDir), 'start.lock');
  if (Buffer.byteLength(inside) <= socketPathBytesMax) return inside;
  const digest = createHash('sha256').update(inside).digest('hex').slice(0, 16);
  return path.join(os.tmpdir(), `millrace-${digest}.lock`);
}

function someoneListens(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
