/** The processes that share the store: each tells every second that it lives and what it does. */
import { heartbeatLostMs } from '../contract/limits.ts';
import { storeError } from './connection.ts';
import { keys } from './keys.ts';
import { pack, unpack } from './pack.ts';
import { Script } from './script.ts';
import type { Store } from './store.ts';
import { writeAnyway } from './write-anyway.ts';

const time = new Script<[seconds: number, microseconds: number]>('time', 1);

export const heartbeatMs = 1000;

export type Role = 'web' | 'worker' | 'jobs';

export interface ProcessBeat {
  readonly id: string;
  readonly role: Role;
  readonly host: string;
  readonly pid: number;
  /** Configuration generation that it runs. */
  readonly generation: number;
  /** Version of the lookup layouts that it knows; 0 for processes that do not follow them. */
  readonly layouts: number;
  /** Partitions that it serves; empty but for workers. */
  readonly partitions: readonly number[];
  /** What it still waits for before it can serve; empty when ready. */
  readonly waitingFor: readonly string[];
  /** Its metrics in Prometheus' text form, for the fronts' `/metrics`. */
  readonly metrics: string;
  /** What a front answered lately; absent for other processes. */
  readonly requestsPerSecond?: number;
  /** Where fronts of the same host can ask it without Redis; absent or null: nowhere. */
  readonly link?: string | null;
}

/** A process as its last heartbeat told. */
export interface LiveProcess extends ProcessBeat {
  /** When that was, in milliseconds by Redis' clock. */
  readonly atMs: number;
}

/** Milliseconds by Redis' clock: the one clock that all processes share. @throws StoreUnavailableError */
export async function storeTimeMs(store: Store): Promise<number> {
  const [seconds, microseconds] = await time.run(store.client, [keys.processes], []);
  return seconds * 1000 + Math.floor(microseconds / 1000);
}

/** @throws StoreUnavailableError */
export async function beat(store: Store, process: ProcessBeat): Promise<void> {
  const atMs = await storeTimeMs(store);
  await writeAnyway(store.client, 'HSET', keys.processes, [process.id, pack([atMs, process])]);
}

/** Says that a process has ended. @throws StoreUnavailableError */
export async function leave(store: Store, id: string): Promise<void> {
  try {
    await store.client.hdel(keys.processes, id);
  } catch (error) {
    throw storeError(error);
  }
}

/** Processes heard of lately. @throws StoreUnavailableError */
export async function liveProcesses(store: Store): Promise<LiveProcess[]> {
  return (await processesNow(store)).processes;
}

/** Who was heard of lately, and the time by Redis' clock. */
export interface ProcessesNow {
  readonly nowMs: number;
  readonly processes: LiveProcess[];
}

/** Those long gone are forgotten. @throws StoreUnavailableError */
export async function processesNow(store: Store): Promise<ProcessesNow> {
  try {
    const [nowMs, beats] = await Promise.all([
      storeTimeMs(store),
      store.client.hgetallBuffer(keys.processes),
    ]);
    const live: LiveProcess[] = [];
    const gone: string[] = [];
    for (const [id, packed] of Object.entries(beats)) {
      const [atMs, process] = unpack<[number, ProcessBeat]>(packed);
      if (nowMs - atMs < heartbeatLostMs) live.push({ ...process, atMs });
      else if (nowMs - atMs > 60_000) gone.push(id);
    }
    if (gone.length > 0) await store.client.hdel(keys.processes, ...gone);
    return { nowMs, processes: live };
  } catch (error) {
    throw storeError(error);
  }
}
