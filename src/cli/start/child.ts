import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** A program to run, and the name for it. */
export interface ChildCommand {
  readonly name: string;
  readonly program: string;
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface ChildOptions {
  readonly command: ChildCommand;
  /** How the process is asked to end: by SIGTERM, or by the end of its standard input. */
  readonly endBy: 'signal' | 'endOfInput';
  /** Called with each output of a newly started process. */
  readonly follow: (lines: Readable) => void;
  /** Called for every unexpected exit, with the reason and the delay before the restart. */
  readonly onUnexpectedEnd: (reason: string, restartMs: number) => void;
}

const backOffFirstMs = 500;
const backOffMaxMs = 10_000;
/** A process that lived this long has recovered, so its next end counts as the first. */
const steadyMs = 30_000;

/**
 * A process that can be kept running. When it ends by itself it is started again, after a wait that doubles while it
 * keeps ending soon. It leads a process group of its own, so a Ctrl-C at the terminal reaches only the supervisor. Its
 * standard input stays open for as long as the supervisor lives.
 */
export class Child {
  #process: ChildProcess | null = null;
  #restart: NodeJS.Timeout | null = null;
  #startedMs = 0;
  #shortLives = 0;
  #isKept = false;
  #isStopping = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(private readonly options: ChildOptions) {}

  get name(): string {
    return this.options.command.name;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Lets the process be started again when it ends from now on. */
  keepRunning(): void {
    this.#isKept = true;
  }

  start(): void {
    const { program, words, env } = this.options.command;
    this.#startedMs = performance.now();
    const child = spawn(program === 'node' ? process.execPath : program, words, {
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#process = child;
    // Nothing is ever written there, but ending it gives an error when the process is gone already.
    child.stdin.on('error', () => {});
    this.options.follow(child.stdout);
    this.options.follow(child.stderr);
    this.#ended = new Promise((resolve) => {
      const end = (reason: string) => {
        if (this.#process !== child) return;
        this.#process = null;
        resolve();
        this.#onEnd(reason);
      };
      child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`));
      child.once('error', (error) => end(error.message));
    });
  }

  /** Asks the process to end, kills it after `graceMs`, and resolves when it is gone. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    if (this.#process === null) return;
    if (this.options.endBy === 'endOfInput') this.#process.stdin?.end();
    else this.#process.kill('SIGTERM');
    const kill = setTimeout(() => this.kill(), graceMs);
    await this.#ended;
    clearTimeout(kill);
  }

  /** Ends the process and everything that it started, immediately. */
  kill(): void {
    this.#isStopping = true;
    if (this.#process?.pid === undefined) return;
    try {
      process.kill(-this.#process.pid, 'SIGKILL');
    } catch {
      // The process has just ended.
    }
  }

  #onEnd(reason: string): void {
    if (this.#isStopping || !this.#isKept) return;
    const livedMs = performance.now() - this.#startedMs;
    this.#shortLives = livedMs >= steadyMs ? 0 : this.#shortLives + 1;
    const restartMs = Math.min(backOffMaxMs, backOffFirstMs * 2 ** Math.max(0, this.#shortLives - 1));
    this.options.onUnexpectedEnd(reason, restartMs);
    this.#restart = setTimeout(() => this.start(), restartMs);
  }
}
