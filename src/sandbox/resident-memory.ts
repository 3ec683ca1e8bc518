import { readFileSync } from 'node:fs';

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
