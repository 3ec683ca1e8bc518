import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever the clock of the kernel. */
const tickMs = 10;
const userTimeField = 13;

/**
 * Processor time that another process has used, in milliseconds. Null where the system does not tell: only Linux has
 * `/proc` (proc(5), "/proc/pid/stat").
 */
export function processorTimeMs(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold anything; after it fields are separated by single blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[userTimeField - 2]) + Number(fields[userTimeField - 1])) * tickMs;
  } catch {
    return null;
  }
}

const kibibytes = /^VmRSS:\s*([0-9]+) kB$/m;

/** Memory of the machine that another process holds, in MiB; 0 where the system does not tell (proc(5), "/proc/pid/status"). */
export function residentMebibytes(pid: number): number {
  try {
    const [, held = '0'] = kibibytes.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return Number(held) / 1024;
  } catch {
    return 0;
  }
}
