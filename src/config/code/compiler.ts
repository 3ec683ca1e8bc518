/**
 * Compiles the JavaScript and TypeScript of tenants in a separate process (docs/design/code-schemas.md), one file at a time,
 * with tenants taking turns. The process stops when it is idle. It is killed if a file takes too much time or memory, which is
 * reported as an error in the file.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { ProblemError, problems } from '../../contract/errors.ts';
import {
  compilerIdleMs,
  compilerMebibytesMax,
  compilerStartMs,
  compilesWaitingMax,
} from '../../contract/limits.ts';
import { Turns } from '../../lib/turns.ts';
import { processorTimeMs, residentMebibytes } from '../../sandbox/sandbox-process.ts';
import {
  type CompiledFile,
  type FromCompiler,
  ModuleRefused,
  type ReadModule,
  type ToCompiler,
} from './compiler-protocol.ts';

/** A process may exit for reasons unrelated to the file, such as a machine without free memory. */
const triesMax = 2;

export interface CompileRequest {
  /** Path of the schema, relative to CONFIG_DIR. */
  readonly file: string;
  readonly tenant: string;
  /** Reads the file and its imports. */
  readonly read: ReadModule;
  /** Remaining processor time, and the budget of its tenant for all files. */
  readonly cpuMs: { readonly left: number; readonly max: number };
}

export class Compiler {
  readonly #turns = new Turns({
    atOnceMax: 1,
    ofOwnerMax: 1,
    waitingMax: compilesWaitingMax,
    refusal: () => new ProblemError(problems.unavailable),
  });
  #process: CompilerProcess | null = null;
  #idle: NodeJS.Timeout | null = null;

  /** @param idleMs how long an idle process is kept */
  constructor(private readonly idleMs = compilerIdleMs) {}

  /**
   * @returns also the processor time that it took, in ms
   * @throws ProblemError if too many files of a tenant wait
   */
  async compile(request: CompileRequest): Promise<CompiledFile & { cpuMs: number }> {
    return await this.#turns.run(request.tenant, async () => {
      if (this.#idle !== null) clearTimeout(this.#idle);
      try {
        return await this.#inTurn(request);
      } finally {
        this.#idle = setTimeout(() => this.#process?.end(), this.idleMs).unref();
      }
    });
  }

  async #inTurn({
    file,
    read,
    cpuMs: { left, max },
  }: CompileRequest): Promise<CompiledFile & { cpuMs: number }> {
    for (let tries = 1; ; tries += 1) {
      if (this.#process?.isAlive !== true) this.#process = new CompilerProcess();
      const { cpuMs, ...end } = await this.#process.compile(file, read, left);
      if (end.kind === 'compiled') return { ...end.compiled, cpuMs };
      if (end.kind === 'gone' && tries < triesMax) continue;
      return { draft: null, issues: [{ file, path: '$', ...failureText(end, max) }], cpuMs };
    }
  }
}

function failureText(
  end: Exclude<CompileEnd, { kind: 'compiled' }>,
  cpuMsMax: number,
): { message: string; advice: string } {
  const advice = 'Make the file, or what it imports, smaller or simpler.';
  switch (end.kind) {
    case 'time':
      return { message: `compiling took more than ${cpuMsMax / 1000} s of processor time`, advice };
    case 'memory':
      return { message: `compiling takes more than ${compilerMebibytesMax} MB of memory`, advice };
    case 'gone':
      return { message: 'the compiler ended while it read the file', advice };
  }
}

const script = fileURLToPath(new URL('./child/start.mjs', import.meta.url));
const watchMs = 50;
/** A task may take this many times its processor time by the clock, because it may wait or share a busy machine. */
const clockFactor = 3;
/** The least clock time of a task, even if little processor time is left. */
const clockMsMin = 10_000;
const errorCharactersKept = 2_000;
const pageMebibytes = 1 / 16;

/** How a task ended. */
type CompileEnd =
  | { readonly kind: 'compiled'; readonly compiled: CompiledFile }
  | { readonly kind: 'time' }
  | { readonly kind: 'memory' }
  /** The process exited for an unknown reason. */
  | { readonly kind: 'gone'; readonly detail: string };

interface Task {
  readonly read: ReadModule;
  readonly ended: (end: CompileEnd) => void;
}

/** Compiles one file per task. It is watched meanwhile, and killed if it takes too much time or memory. */
class CompilerProcess {
  readonly #child: ChildProcess;
  readonly #ready: Promise<void>;
  #begin: () => void = () => {};
  #restMebibytes = 0;
  #task: Task | null = null;
  #errors = '';
  #goneBecause: string | null = null;

  constructor() {
    this.#child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${compilerMebibytesMax}`,
        '--max-semi-space-size=4',
        // Do not optimize esbuild's code: that takes more time and memory than it saves.
        '--liftoff-only',
        `--wasm-max-mem-pages=${(2 * compilerMebibytesMax) / pageMebibytes}`,
        '--no-warnings',
        script,
        String(process.pid),
      ],
      { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: { TZ: 'UTC', PATH: '' }, cwd: '/' },
    );
    this.#ready = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#child.on('message', (message: FromCompiler) => this.#receive(message));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-errorCharactersKept);
    });
    this.#child.on('error', (error) => this.#gone(error.message));
    this.#child.on('close', (code, signal) => this.#gone(`exit code ${code ?? signal}`));
    // An idle compiler must not keep this process alive.
    this.#child.unref();
    this.#child.channel?.unref();
    (this.#child.stderr as { unref?(): void } | null)?.unref?.();
  }

  /** False once it accepts no more tasks. */
  get isAlive(): boolean {
    return this.#goneBecause === null;
  }

  end(): void {
    this.#goneBecause ??= 'ended';
    this.#child.kill('SIGKILL');
  }

  /** Compiles a file, one at a time. @throws Error if the process cannot be started */
  async compile(file: string, read: ReadModule, cpuMsMax: number): Promise<CompileEnd & { cpuMs: number }> {
    await this.#started();
    const startedCpuMs = this.#cpuMs();
    let watch: NodeJS.Timeout | null = null;
    let cpuMs = 0;
    const end = await new Promise<CompileEnd>((ended) => {
      this.#task = { read, ended };
      const deadlineMs = performance.now() + Math.max(cpuMsMax * clockFactor, clockMsMin);
      watch = setInterval(() => {
        cpuMs = this.#cpuMs() - startedCpuMs;
        if (this.#mebibytes() > this.#restMebibytes + compilerMebibytesMax) this.#refuse('memory');
        else if (cpuMs > cpuMsMax || performance.now() > deadlineMs) this.#refuse('time');
      }, watchMs);
      this.#send({ kind: 'compile', file });
    });
    if (watch !== null) clearInterval(watch);
    return { ...end, cpuMs };
  }

  async #started(): Promise<void> {
    // The timer also keeps this process alive meanwhile.
    const limit = setTimeout(() => this.end(), compilerStartMs);
    await this.#ready;
    clearTimeout(limit);
    if (this.#goneBecause === null) return;
    throw new Error(`the compiler of schemas in JavaScript does not start: ${this.#goneBecause}`);
  }

  #receive(message: FromCompiler): void {
    if (message.kind === 'compiled') this.#done(message);
    else if (message.kind === 'read') void this.#sendText(message.path);
    else {
      this.#restMebibytes = this.#mebibytes();
      this.#begin();
    }
  }

  async #sendText(path: string): Promise<void> {
    try {
      const text = (await this.#task?.read(path)) ?? null;
      this.#send({ kind: 'text', path, text, refusal: null });
    } catch (error) {
      const refusal = error instanceof ModuleRefused ? error.message : 'cannot be read';
      this.#send({ kind: 'text', path, text: null, refusal });
    }
  }

  #send(message: ToCompiler): void {
    // Sending to an exited process fails; its exit is reported separately.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #refuse(limit: 'time' | 'memory'): void {
    this.end();
    this.#done({ kind: limit });
  }

  #gone(detail: string): void {
    this.#goneBecause ??= `${detail} ${this.#errors.split('\n')[0] ?? ''}`.trim();
    this.#begin();
    if (/heap|memory/i.test(this.#errors)) this.#done({ kind: 'memory' });
    else this.#done({ kind: 'gone', detail: this.#goneBecause });
  }

  #done(end: CompileEnd): void {
    const task = this.#task;
    this.#task = null;
    task?.ended(end);
  }

  #cpuMs(): number {
    const { pid } = this.#child;
    return (pid === undefined ? null : processorTimeMs(pid)) ?? 0;
  }

  #mebibytes(): number {
    const { pid } = this.#child;
    return pid === undefined ? 0 : residentMebibytes(pid);
  }
}
