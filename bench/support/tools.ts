/** Finds programs of the operating system that benchmarks compare or measure with. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Folders of Debian that are not on a user's PATH. */
const extraFolders = ['/usr/sbin', '/usr/local/sbin', ...postgresFolders()];
const policyFile = '/usr/sbin/policy-rc.d';

/**
 * Path of a program, which is installed from the packages of the operating system if it is missing. Null if that fails, after
 * printing why and what to do.
 */
export function findTool(program: string, packageName: string, say: (text: string) => void): string | null {
  const found = pathOf(program);
  if (found !== null) return found;
  const reason = install(packageName, say);
  const installed = pathOf(program);
  if (installed !== null) return installed;
  say(`${program} is skipped: ${reason ?? `the package ${packageName} does not have it`}`);
  return null;
}

/** Words that pin a command to one core, if the system can do so; else none. */
export function pinnedTo(core: number): string[] {
  const taskset = pathOf('taskset');
  return taskset === null ? [] : [taskset, '-c', String(core)];
}

/** Pins this process, and so every process that it starts from now on. */
export function pinSelfTo(core: number): void {
  const taskset = pathOf('taskset');
  if (taskset !== null)
    spawnSync(taskset, ['-a', '-c', '-p', String(core), String(process.pid)], { stdio: 'ignore' });
}

function pathOf(program: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...extraFolders, ...postgresFolders()];
  const folder = folders.find((one) => one !== '' && existsSync(path.join(one, program)));
  return folder === undefined ? null : path.join(folder, program);
}

function postgresFolders(): string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => path.join(root, version, 'bin'));
}

/** Installs a package. @returns null on success, otherwise the reason */
function install(packageName: string, say: (text: string) => void): string | null {
  const byHand = `install it by hand: apt-get install ${packageName}`;
  if (pathOf('apt-get') === null) return `it is not installed, and this system has no apt-get; ${byHand}`;
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (prefix.length > 0 && !succeeds([...prefix, 'true']))
    return `it is not installed, and that needs root; ${byHand}`;
  say(`installing ${packageName} from the packages of this system`);
  // Debian starts a service as soon as it is installed, which is not wanted.
  const guarded = prefix.length === 0 && !existsSync(policyFile);
  if (guarded) writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const words = [
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
    ];
    if (succeeds([...prefix, ...words, packageName])) return null;
    succeeds([...prefix, 'apt-get', 'update', '-qq']);
    return succeeds([...prefix, ...words, packageName]) ? null : `apt-get could not install it; ${byHand}`;
  } finally {
    if (guarded) rmSync(policyFile, { force: true });
  }
}

function succeeds([program = '', ...words]: readonly string[]): boolean {
  return spawnSync(program, words, { stdio: 'ignore' }).status === 0;
}
