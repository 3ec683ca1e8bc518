/**
 * The files of snapshots: one for each index of each set of shards of each worker, `<store>-<set>-<index>.<worker>.snapshot`,
 * where the first three are digests. Only the named worker writes a file, and it appears atomically. A starting worker takes
 * over the files of a dead one by renaming them: if several try, one succeeds. While it reads them, they end with `.taken`,
 * because it does not send heartbeats yet, which would keep others from taking them.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { snapshotKeptDays } from '../../../contract/limits.ts';
import { codeOf } from '../../../lib/message-text.ts';
import { liveProcesses } from '../../../store/processes/registry.ts';
import type { Store } from '../../../store/store.ts';
import { unfinished } from './snapshot-file.ts';

const suffix = '.snapshot';
const dayMs = 86_400_000;
/** A worker that has not read its files after this long has died, even if its process id is in use again, or is not known here. */
const readMsMax = 60_000;
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
  readonly state: 'unfinished' | 'whole' | 'taken';
}

/** What a name ends with in each state. */
const ends = { unfinished: unfinished(suffix), whole: suffix, taken: `${suffix}.taken` } as const;
const states = ['unfinished', 'taken', 'whole'] as const;

export class SnapshotFolder {
  readonly #prefix: string;
  readonly #set: string;

  constructor(private readonly options: SnapshotFolderOptions) {
    this.#prefix = `${shortDigest(options.secret)}-`;
    this.#set = shortDigest(options.set);
  }

  /** The file that this worker writes for an index. @param index any unique name of the index */
  fileOf(index: string): string {
    return this.#ownFile(index, 'whole');
  }

  #ownFile(index: string, state: KnownFile['state']): string {
    const { folder, workerId } = this.options;
    return path.join(folder, `${this.#prefix}${this.#set}-${shortDigest(index)}.${workerId}${ends[state]}`);
  }

  /** Creates the folder. @throws I/O errors */
  async make(): Promise<void> {
    await mkdir(this.options.folder, { recursive: true, mode: 0o700 });
  }

  /**
   * Takes over the files of one dead worker, because they have the items of the same partitions. Removes unusable files:
   * unfinished ones, those of other indexes, and those unused for days. `keep` must be called afterwards.
   * @returns index -> path of its file
   * @throws I/O errors
   */
  async takeOver(indexes: readonly string[]): Promise<Map<string, string>> {
    const wanted = new Map(indexes.map((index) => [shortDigest(index), index]));
    const taken = new Map<string, string>();
    let formerWorker: string | null = null;
    const takenByOthers = new Set<string>();
    for (const file of await this.#leftFiles(await this.options.goneWorkers())) {
      const isOfSet = file.set === this.#set;
      const index = isOfSet ? wanted.get(file.index) : undefined;
      if (file.state === 'unfinished' || (isOfSet && index === undefined)) {
        await this.#remove(file);
        continue;
      }
      const mayTake = file.workerId === (formerWorker ?? file.workerId) && !takenByOthers.has(file.workerId);
      if (index !== undefined && mayTake && !taken.has(index)) {
        if (await this.#take(file, index)) {
          formerWorker = file.workerId;
          taken.set(index, this.#ownFile(index, 'taken'));
        } else takenByOthers.add(file.workerId);
      } else if (await this.#isOld(file)) await this.#remove(file);
    }
    return taken;
  }

  /** Whether other workers that start are reading files of the same set. @throws I/O errors */
  async othersAreReading(): Promise<boolean> {
    const names = await readdir(this.options.folder).catch(nothingIfAbsent);
    const files = names.map((name) => this.#parse(name)).filter((file) => file !== null);
    const taken = files.filter(
      ({ state, set, workerId }) =>
        state === 'taken' && set === this.#set && workerId !== this.options.workerId,
    );
    if (taken.length === 0) return false;
    // A worker that sends heartbeats has started.
    const isGone = await this.options.goneWorkers();
    for (const file of taken) if (isGone(file.workerId) && (await this.#isRead(file))) return true;
    return false;
  }

  /** Renames the taken-over file of an index after it was read, unless it was removed. @throws I/O errors */
  async keep(index: string): Promise<void> {
    try {
      await rename(this.#ownFile(index, 'taken'), this.fileOf(index));
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }

  /** Removes the file of an index of this worker, or whatever is at its path. @throws I/O errors */
  async remove(index: string): Promise<void> {
    for (const state of ['whole', 'taken'] as const)
      await rm(this.#ownFile(index, state), { recursive: true, force: true });
  }

  /** Files of this store whose worker is gone, the latest first. */
  async #leftFiles(isGone: (workerId: string) => boolean): Promise<KnownFile[]> {
    const names = await readdir(this.options.folder).catch(nothingIfAbsent);
    const left = names.map((name) => this.#parse(name)).filter((file) => file !== null);
    const aged = await Promise.all(
      left
        .filter(({ workerId }) => isGone(workerId))
        .map(async (file) => ({
          file,
          writtenMs: await this.#writtenMs(file),
          isRead: await this.#isRead(file),
        })),
    );
    return aged
      .filter(({ isRead }) => !isRead)
      .sort((a, b) => b.writtenMs - a.writtenMs)
      .map(({ file }) => file);
  }

  #parse(name: string): KnownFile | null {
    if (!name.startsWith(this.#prefix)) return null;
    const state = states.find((each) => name.endsWith(ends[each]));
    if (state === undefined) return null;
    const end = name.lastIndexOf(suffix);
    const [set = '', index = ''] = name.slice(this.#prefix.length).split(/[-.]/, 2);
    const workerId = name.slice(this.#prefix.length + set.length + index.length + 2, end);
    return { name, set, index, workerId, state };
  }

  async #take(file: KnownFile, index: string): Promise<boolean> {
    try {
      await rename(this.#pathOf(file), this.#ownFile(index, 'taken'));
      return true;
    } catch (error) {
      // Another worker was faster.
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  /** A worker that starts is reading the file. */
  async #isRead(file: KnownFile): Promise<boolean> {
    return (
      file.state === 'taken' &&
      mayRun(file.workerId) &&
      (await this.#timeOf(file, 'ctimeMs')) > Date.now() - readMsMax
    );
  }

  async #isOld(file: KnownFile): Promise<boolean> {
    return (await this.#writtenMs(file)) < Date.now() - snapshotKeptDays * dayMs;
  }

  #writtenMs(file: KnownFile): Promise<number> {
    return this.#timeOf(file, 'mtimeMs');
  }

  /** 0 for a file that no longer exists. @param which `ctimeMs`: when it was renamed */
  async #timeOf(file: KnownFile, which: 'mtimeMs' | 'ctimeMs'): Promise<number> {
    try {
      return (await stat(this.#pathOf(file)))[which];
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
  return codeOf(error) === 'ENOENT';
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
  // In a container a new process often gets the pid of the previous one.
  return Number(pid) !== process.pid && isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
