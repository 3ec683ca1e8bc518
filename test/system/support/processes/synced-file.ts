/**
 * What a power cut would leave of a file: the bytes that were written before the last completed sync, because the kernel may not
 * have stored later ones. `strace` records the system calls of the process that writes the file. A cut is simulated by killing
 * that process and truncating the file to what was synced.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, truncateSync } from 'node:fs';
import { isAlive } from '../../../support/is-alive.ts';
import { until } from '../../../support/until.ts';

const writePattern = /^(?:write|pwrite64)\(\d+, .*?, (\d+)[^)]*\)\s+= (\d+)/;
const writeBegunPattern = /^(?:write|pwrite64)\(\d+, .*?, (\d+) <unfinished/;
const writeEndedPattern = /^<\.\.\. (?:write|pwrite64) resumed>.*= (\d+)/;
const syncPattern = /^(?:fdatasync|fsync)\(\d+\)\s+= 0/;
const syncBegunPattern = /^(?:fdatasync|fsync)\(\d+ <unfinished/;
const syncEndedPattern = /^<\.\.\. (?:fdatasync|fsync) resumed>.*= 0/;

export function canFollowSyncs(): boolean {
  return spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;
}

export class SyncedFile {
  constructor(
    private readonly file: string,
    private readonly traceFile: string,
  ) {}

  /** Prefix for the command of the process that writes the file. That process stays the direct child, and strace ends with it. */
  get commandPrefix(): readonly string[] {
    const calls = 'trace=write,pwrite64,fdatasync,fsync';
    const output = ['-q', '-s', '0', '-e', calls, '-e', 'signal=none', '-P', this.file, '-o', this.traceFile];
    return ['strace', '-D', '-f', ...output];
  }

  /** Process id of the strace that traces a process, which must be running. */
  followerOf(pid: number): number {
    return Number(/^TracerPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  }

  /** To be called after the process was killed. @returns the number of bytes removed from the file */
  async cut(follower: number): Promise<number> {
    await until('strace has written everything', () => !isAlive(follower));
    const lost = unsyncedBytes(readFileSync(this.traceFile, 'utf8').split('\n'));
    truncateSync(this.file, Math.max(0, statSync(this.file).size - lost));
    return lost;
  }
}

/** Bytes written, or being written, since the start of the last completed sync. @param lines in chronological order */
export function unsyncedBytes(lines: readonly string[]): number {
  let written = 0;
  let synced = 0;
  /** By thread: bytes written when its sync began, and the size of its write in progress. */
  const syncing = new Map<string, number>();
  const writing = new Map<string, number>();
  for (const line of lines) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const whole = writePattern.exec(call);
    const begun = writeBegunPattern.exec(call);
    const ended = writeEndedPattern.exec(call);
    if (whole) written += Number(whole[2]);
    else if (begun) writing.set(thread, Number(begun[1]));
    else if (ended) {
      writing.delete(thread);
      written += Number(ended[1]);
    } else if (syncPattern.test(call)) synced = written;
    else if (syncBegunPattern.test(call)) syncing.set(thread, written);
    else if (syncEndedPattern.test(call)) synced = Math.max(synced, syncing.get(thread) ?? 0);
  }
  return written - synced + [...writing.values()].reduce((sum, bytes) => sum + bytes, 0);
}
