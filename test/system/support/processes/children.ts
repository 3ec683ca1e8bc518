/** Child processes of a process. */
import { readdirSync, readFileSync } from 'node:fs';

/** Ids of child processes whose command line contains a string, from Linux' `/proc`. */
export function childrenOf(pid: number, text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid && commandOf(name).includes(text))
    .map(Number);
}

function parentOf(pid: string): number {
  const stat = readProcess(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function commandOf(pid: string): string {
  return readProcess(pid, 'cmdline').replaceAll('\0', ' ');
}

/** Empty if the process has exited. */
function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
