import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { codeOf, reasonOf } from '../../lib/message-text.ts';
import { CommandStop } from '../terminal/command-line.ts';

/**
 * Creates a folder and its missing parents, level by level, because Node's recursive `mkdir` never returns where nothing can be
 * created, as in `/proc`.
 * @param mode permissions of created folders; by default only for the current user
 * @throws CommandStop if that is not possible
 */
export function makeFolder(folder: string, mode = 0o700): void {
  try {
    makeMissing(folder, mode);
  } catch (error) {
    throw new CommandStop(
      `DATA_DIR cannot be created: ${reasonOf(error)}. Choose a folder that this user can write to.`,
    );
  }
}

function makeMissing(folder: string, mode: number): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const above = path.dirname(folder);
  if (above !== folder) makeMissing(above, mode);
  mkdirSync(folder, { mode });
}

/** Maximum length of a socket path: the smallest limit of common systems is 104 bytes. */
const socketPathBytesMax = 100;

/**
 * Locks a data folder for this process, because two Redis servers on one append-only file would corrupt it. The lock is a
 * socket on which this process listens, so that it is released however the process ends.
 * @throws CommandStop if another `npm start` is using the folder, or this user may not write to it
 */
export async function lockDataDir(dataDir: string): Promise<Server> {
  const socketPath = lockPath(dataDir);
  if (await someoneListens(socketPath)) throw inUse(dataDir);
  const server = createServer((socket) => socket.destroy());
  server.unref();
  try {
    // An existing file is from a process that was killed.
    rmSync(socketPath, { force: true });
    server.listen(socketPath);
    await once(server, 'listening');
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) === 'EADDRINUSE') throw inUse(dataDir);
    throw new CommandStop(
      `Cannot write to DATA_DIR=${dataDir} (${codeOf(error) ?? error}). ` +
        'Give this user write permission, or choose another folder: DATA_DIR=.data2 npm start',
    );
  }
  return server;
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
