import { hostname } from 'node:os';
import { liveProcesses } from '../../../store/processes/registry.ts';
import type { Store } from '../../../store/store.ts';
import { ShardSnapshots, type SnapshotsOptions } from './shard-snapshots.ts';
import { SnapshotFolder } from './snapshot-folder.ts';

export interface OpenSnapshotsOptions extends Omit<SnapshotsOptions, 'folder'> {
  readonly folder: string;
  /** `<host>-<process>-<random>`, as in the heartbeat. */
  readonly workerId: string;
}

/** Opens the snapshots of a set of shards by its name. */
export type OpenSnapshots = (set: string) => ShardSnapshots;

/** The snapshots of a worker. */
export function snapshotsOf({ folder, workerId, ...options }: OpenSnapshotsOptions): OpenSnapshots {
  const { secret } = options.store;
  const goneWorkers = () => goneWorkersOf(options.store);
  return (set) =>
    new ShardSnapshots({
      ...options,
      folder: new SnapshotFolder({ folder, secret, workerId, set, goneWorkers }),
    });
}

/** A worker is gone when nobody hears of it, or when it ran on this host and its process is not there. */
async function goneWorkersOf(store: Store): Promise<(workerId: string) => boolean> {
  const living = new Set((await liveProcesses(store)).map(({ id }) => id));
  return (workerId) => !living.has(workerId) || !mayRun(workerId);
}

function mayRun(workerId: string): boolean {
  const [, host, pid] = /^(.*)-(\d+)-[^-]+$/.exec(workerId) ?? [];
  if (host !== hostname()) return true;
  // In a container the next process often has the number of the former one.
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
