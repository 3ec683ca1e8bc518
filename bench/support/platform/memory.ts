/** Reads the memory of a process from Linux' `/proc`. */
import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  readonly residentBytes: number;
  readonly peakBytes: number;
}

/** The memory of a process; null where not available. */
export function memoryOf(pid: number | undefined): ProcessMemory | null {
  if (pid === undefined) return null;
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return { residentBytes: kilobytes(status, 'VmRSS') * 1024, peakBytes: kilobytes(status, 'VmHWM') * 1024 };
  } catch {
    return null;
  }
}

function kilobytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN);
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`;
}
