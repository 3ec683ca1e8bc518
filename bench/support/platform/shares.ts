/**
 * Fixed shares of a processor for processes, by the control groups of Linux (version 1 and 2). So several processes on one
 * machine are limited as if each had a machine of its own.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../bench.ts';

/** A share is allotted this often. With longer periods a process would be stopped for longer. */
const periodUs = 20_000;
const removeTries = 20;
const removeEveryMs = 50;

/** How a version of control groups writes a limit. */
interface Version {
  /** Exists in a group in which processors can be limited. */
  readonly file: string;
  limit(folder: string, quotaUs: number | null): void;
}

const versions: readonly Version[] = [
  {
    file: 'cpu.cfs_quota_us',
    limit(folder, quotaUs) {
      if (quotaUs !== null) writeFileSync(path.join(folder, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(path.join(folder, 'cpu.cfs_quota_us'), String(quotaUs ?? -1));
    },
  },
  {
    file: 'cpu.max',
    limit(folder, quotaUs) {
      writeFileSync(path.join(folder, 'cpu.max'), `${quotaUs ?? 'max'} ${periodUs}`);
    },
  },
];

export class ProcessorShares {
  readonly #folders = new Set<string>();

  private constructor(
    private readonly folder: string,
    private readonly version: Version,
  ) {}

  /** Null if this user may not limit processors, after printing what to do. */
  static open(context: BenchContext): ProcessorShares | null {
    const found = parentFolders()
      .map(newGroupIn)
      .find((group) => group !== null);
    if (found === undefined) {
      context.say(
        'no process can be limited here: run it as root, on a Linux whose control groups have the controller cpu and are not read-only (/sys/fs/cgroup)',
      );
      return null;
    }
    const shares = new ProcessorShares(found.folder, found.version);
    context.onEnd(() => shares.#remove(found.folder));
    return shares;
  }

  /** Limits each of the processes, with all its threads. @param cores share of one processor; may be above 1 */
  limit(pids: readonly number[], cores: number): void {
    for (const pid of pids) {
      const folder = path.join(this.folder, String(pid));
      mkdirSync(folder, { recursive: true });
      this.#folders.add(folder);
      this.version.limit(folder, Math.round(cores * periodUs));
      writeFileSync(path.join(folder, 'cgroup.procs'), String(pid));
    }
  }

  /** Removes all limits, so that the processes can end as fast as usual. */
  lift(): void {
    for (const folder of this.#folders) this.version.limit(folder, null);
  }

  async #remove(folder: string): Promise<void> {
    for (const group of this.#folders) await removeGroup(group);
    await removeGroup(folder);
  }
}

/** A group can be removed once its last process has ended, which the kernel may notice a little later. */
async function removeGroup(folder: string): Promise<void> {
  for (let tries = 0; tries < removeTries; tries += 1) {
    try {
      rmdirSync(folder);
      return;
    } catch {
      await sleep(removeEveryMs);
    }
  }
}

/** Folders in which a new group may be created: those of this process, then the outermost. */
function parentFolders(): string[] {
  return ['cpu', 'cpu,cpuacct', ''].flatMap((controllers) => {
    const root = path.join('/sys/fs/cgroup', controllers);
    return [path.join(root, ownPath(controllers)), root];
  });
}

/** Path of this process's group. @param controllers empty for version 2 */
function ownPath(controllers: string): string {
  try {
    const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
    return lines.map((line) => line.split(':')).find(([, of]) => of === controllers)?.[2] ?? '';
  } catch {
    return '';
  }
}

function newGroupIn(parent: string): { readonly folder: string; readonly version: Version } | null {
  const folder = path.join(parent, `millrace-bench-${process.pid}`);
  try {
    mkdirSync(folder);
  } catch {
    return null;
  }
  for (const group of [parent, folder]) passOn(group);
  const probe = path.join(folder, 'probe');
  try {
    mkdirSync(probe);
    const version = versions.find(({ file }) => existsSync(path.join(probe, file)));
    rmdirSync(probe);
    if (version !== undefined) return { folder, version };
  } catch {
    // Groups cannot be nested here.
  }
  rmdirSync(folder);
  return null;
}

/** Enables the cpu controller for child groups, which cgroup v2 requires. */
function passOn(group: string): void {
  try {
    writeFileSync(path.join(group, 'cgroup.subtree_control'), '+cpu', { flag: 'r+' });
  } catch {
    // Version 1 has no such file, and a group with its own processes cannot delegate controllers.
  }
}
