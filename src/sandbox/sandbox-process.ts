/**
 * A sandbox process that exchanges lines of JSON with this one. While it works, its CPU time and memory are polled, and it is
 * killed when it exceeds a limit.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  codeBuildCpuMs,
  codeHeapMebibytes,
  codeResidentMebibytes,
  codeStartCpuMs,
} from '../contract/limits.ts';
import { answersDescriptor, type FromSandbox, type ToSandbox } from './protocol.ts';

const script = fileURLToPath(new URL('./child/start.mjs', import.meta.url));
const watchMs = 50;
/** If CPU time is not available, a build may take this many times its limit in wall-clock time. */
const clockFactor = 5;
const errorCharactersKept = 2_000;

/** Why a process exited or was killed. */
export type EndReason = 'time' | 'memory' | 'closed' | 'unknown';

export interface SandboxProcessEvents {
  answered(reply: FromSandbox): void;
  ended(reason: EndReason, detail: string): void;
}

export class SandboxProcess {
  readonly #child: ChildProcess;
  /** Characters of each loaded set of programs, least recently used first. */
  readonly open = new Map<string, number>();
  #unread: Buffer[] = [];
  #isEnded = false;
  #endReason: EndReason | null = null;
  #errors = '';
  /** Number of replies so far. */
  #answers = 0;
  #watched = { answers: -1, cpuMs: 0, clockMs: 0 };
  #watch: NodeJS.Timeout | null = null;
  /** CPU time limit for the next reply. The first reply only says that the process has started. */
  #cpuMsMax = codeStartCpuMs;

  constructor(private readonly events: SandboxProcessEvents) {
    this.#child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${codeHeapMebibytes}`,
        '--max-semi-space-size=4',
        '--no-warnings',
        script,
        String(process.pid),
      ],
      // Inherits nothing from this process: no secrets, no locale, no time zone.
      {
        stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
        env: { TZ: 'UTC', LC_ALL: 'en_US.UTF-8', PATH: '' },
        cwd: '/',
      },
    );
    this.#child.on('error', (error) => this.#end(error.message));
    // Without free file descriptors there are no streams, despite the types.
    const { stdio = [] }: { stdio?: readonly (Readable | Writable | null | undefined)[] } = this.#child;
    const answers = stdio[answersDescriptor];
    answers?.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-errorCharactersKept);
    });
    // Writes fail after the process has exited, which `close` reports.
    this.#child.stdin?.on('error', () => {});
    this.#child.on('close', (code, signal) => this.#end(`exit code ${code ?? signal}`));
    // An idle sandbox process must not keep this one running.
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stderr, answers]) {
      (stream as { unref?(): void } | null)?.unref?.();
    }
  }

  send(message: ToSandbox | string): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.#child.stdin?.write(`${text}\n`);
  }

  /** CPU time used so far, in milliseconds; 0 where not available. */
  usedMs(): number {
    return this.#child.pid === undefined ? 0 : (processorTimeMs(this.#child.pid) ?? 0);
  }

  /** Starts to enforce the limits, and keeps this process running meanwhile. */
  startWatch(): void {
    this.#watched = { answers: -1, cpuMs: 0, clockMs: 0 };
    this.#watch ??= setInterval(() => this.#check(), watchMs);
  }

  stopWatch(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#watch = null;
  }

  end(reason: EndReason): void {
    this.#endReason ??= reason;
    this.#child.kill('SIGKILL');
  }

  #check(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (residentMebibytes(pid) > codeResidentMebibytes) this.end('memory');
    const clockMs = performance.now();
    const cpuMs = processorTimeMs(pid) ?? clockMs / clockFactor;
    if (this.#watched.answers !== this.#answers) {
      this.#watched = { answers: this.#answers, cpuMs, clockMs };
    } else if (cpuMs - this.#watched.cpuMs > this.#cpuMsMax) {
      this.end('time');
    }
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...this.#unread, chunk.subarray(from, end)]).toString();
      this.#unread = [];
      from = end + 1;
      this.#answers += 1;
      this.#cpuMsMax = codeBuildCpuMs;
      if (!this.#isEnded) this.events.answered(JSON.parse(line));
    }
    if (from < chunk.length) this.#unread.push(chunk.subarray(from));
  }

  #end(detail: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.stopWatch();
    const isMemory = /heap|memory/i.test(this.#errors);
    const reason = this.#endReason ?? (isMemory ? 'memory' : 'unknown');
    this.events.ended(reason, `${detail} ${this.#errors.split('\n')[0] ?? ''}`.trim());
  }
}

/** Linux reports hundredths of a second, whatever the timer frequency of the kernel. */
const tickMs = 10;
const userTimeField = 13;

/**
 * CPU time used by another process, in milliseconds; null without Linux' `/proc` (proc(5), "/proc/pid/stat").
 */
export function processorTimeMs(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may contain anything. The fields after it are separated by single spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[userTimeField - 2]) + Number(fields[userTimeField - 1])) * tickMs;
  } catch {
    return null;
  }
}

const kibibytes = /^VmRSS:\s*([0-9]+) kB$/m;

/** Resident memory of another process in MiB; 0 where not available (proc(5), "/proc/pid/status"). */
export function residentMebibytes(pid: number): number {
  try {
    const [, held = '0'] = kibibytes.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return Number(held) / 1024;
  } catch {
    return 0;
  }
}
