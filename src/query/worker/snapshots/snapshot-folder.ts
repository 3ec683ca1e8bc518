/**
 * The files of snapshots: one for each index of each set of shards of each worker, `<store>-<set>-<index>.<worker>.snapshot`,
 * where the first three are digests. Only the named worker writes a file, and it appears atomically. A starting worker takes
 * over the file of a dead one by renaming it: if several try, one succeeds.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { snapshotKeptDays } from '../../../contract/limits.ts';
import { liveProcesses } from '../../../store/processes/registry.ts';
import type { Store } from '../../../store/store.ts';
import { unfinished } from './snapshot-file.ts';

const suffix = '.snapshot';
const dayMs = 86_400_000;
const digestLetters = 16;

export interface SnapshotFolderOptions {
  readonly folder: string;
  /** Secret of the store, to distinguish the files of several stores. */
  readonly secret: Buffer;
  readonly workerId: string;
  /** Any name of the set of shards, to distinguish groups of partitions. */
  readonly set: string;
  /** Resolves with a test of whether a worker is gone. */
  readonly goneWorkers: () => Promise<(workerId: string) => boolean>;
}

interface KnownFile {
  readonly name: string;
  readonly set: string;
  /** Digest of the index. */
  readonly index: string;
  readonly workerId: string;
  readonly isWhole: boolean;
}

export class SnapshotFolder {
  readonly #prefix: string;
  readonly #set: string;

  constructor(private readonly options: SnapshotFolderOptions) {
    this.#prefix = `${shortDigest(options.secret)}-`;
    this.#set = shortDigest(options.set);
  }

  /** The file that this worker writes for an index. @param index any unique name of the index */
  fileOf(index: string): string {
    const { folder, workerId } = this.options;
    return path.join(folder, `${this.#prefix}${this.#set}-${shortDigest(index)}.${workerId}${suffix}`);
  }

  /** Creates the folder. @throws I/O errors */
  async make(): Promise<void> {
    await mkdir(this.options.folder, { recursive: true, mode: 0o700 });
  }

  /**
   * Takes over a file for each of the indexes, and removes unusable files: unfinished ones, those of other indexes, and those
   * unused for days. @returns index -> path of its file @throws I/O errors
   */
  async takeOver(indexes: readonly string[]): Promise<Map<string, string>> {
    const wanted = new Map(indexes.map((index) => [shortDigest(index), index]));
    const isGone = await this.options.goneWorkers();
    const taken = new Map<string, string>();
    for (const file of await this.#leftFiles(isGone)) {
      const isOfSet = file.set === this.#set;
      const index = isOfSet ? wanted.get(file.index) : undefined;
      if (index !== undefined && file.isWhole && !taken.has(index)) {
        if (await this.#take(file, index)) taken.set(index, this.fileOf(index));
      } else if (!file.isWhole || (isOfSet && index === undefined) || (await this.#isOld(file))) {
        await this.#remove(file);
      }
    }
    return taken;
  }

  /** Removes the file of an index of this worker, or whatever is at its path. @throws I/O errors */
  async remove(index: string): Promise<void> {
    await rm(this.fileOf(index), { recursive: true, force: true });
  }

  /** Files of this store whose worker is gone, the latest first. */
  async #leftFiles(isGone: (workerId: string) => boolean): Promise<KnownFile[]> {
    const names = await readdir(this.options.folder).catch(nothingIfAbsent);
    const left = names.map((name) => this.#parse(name)).filter((file) => file !== null);
    const aged = await Promise.all(
      left
        .filter(({ workerId }) => isGone(workerId))
        .map(async (file) => ({ file, writtenMs: await this.#writtenMs(file) })),
    );
    return aged.sort((a, b) => b.writtenMs - a.writtenMs).map(({ file }) => file);
  }

  #parse(name: string): KnownFile | null {
    if (!name.startsWith(this.#prefix)) return null;
    const isWhole = name.endsWith(suffix);
    const end = name.lastIndexOf(suffix);
    if (!isWhole && !name.endsWith(unfinished(suffix))) return null;
    const [set = '', index = ''] = name.slice(this.#prefix.length).split(/[-.]/, 2);
    const workerId = name.slice(this.#prefix.length + set.length + index.length + 2, end);
    return { name, set, index, workerId, isWhole };
  }

  async #take(file: KnownFile, index: string): Promise<boolean> {
    try {
      await rename(this.#pathOf(file), this.fileOf(index));
      return true;
    } catch (error) {
      // Another worker was faster.
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  async #isOld(file: KnownFile): Promise<boolean> {
    return (await this.#writtenMs(file)) < Date.now() - snapshotKeptDays * dayMs;
  }

  /** 0 for a file that no longer exists. */
  async #writtenMs(file: KnownFile): Promise<number> {
    try {
      return (await stat(this.#pathOf(file))).mtimeMs;
    } catch (error) {
      if (isAbsent(error)) return 0;
      throw error;
    }
  }

  async #remove(file: KnownFile): Promise<void> {
    await rm(this.#pathOf(file), { recursive: true, force: true });
  }

  #pathOf({ name }: KnownFile): string {
    return path.join(this.options.folder, name);
  }
}

function nothingIfAbsent(error: unknown): string[] {
  if (isAbsent(error)) return [];
  throw error;
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function shortDigest(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digestLetters);
}

/** A worker is gone if it sends no heartbeats, or if it ran on this host and its process does not exist. */
export async function goneWorkersOf(store: Store): Promise<(workerId: string) => boolean> {
  const living = new Set((await liveProcesses(store)).map(({ id }) => id));
  return (workerId) => !living.has(workerId) || !mayRun(workerId);
}

function mayRun(workerId: string): boolean {
  const [, host, pid] = /^(.*)-(\d+)-[^-]+$/.exec(workerId) ?? [];
  if (host !== hostname()) return true;
  // In a container a new process often gets the pid of the former one.
  return Number(pid) !== process.pid && isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
