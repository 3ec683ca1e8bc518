import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** A program to run, and its name in the log. */
export interface ChildCommand {
  readonly name: string;
  readonly program: string;
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface ChildOptions {
  readonly command: ChildCommand;
  /** How to stop the process: by SIGTERM, or by closing its standard input. */
  readonly endBy: 'signal' | 'endOfInput';
  /** Called with standard output and standard error of each started process. */
  readonly follow: (lines: Readable) => void;
  /** Called for every unexpected exit, with the reason and the delay before the restart. */
  readonly onUnexpectedEnd: (reason: string, restartMs: number) => void;
}

const backOffFirstMs = 500;
const backOffMaxMs = 10_000;
/** A process that has run this long counts as recovered, which resets the backoff. */
const steadyMs = 30_000;

/**
 * A process that is restarted when it ends unexpectedly, with exponential backoff. It has its own process group, so that Ctrl-C
 * in the terminal only reaches the supervisor. Its standard input is open while the supervisor lives.
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

  /** Restarts the process from now on when it ends unexpectedly. */
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
    // Closing the input fails if the process has already ended.
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

  /** Stops the process, kills it after `graceMs`, and resolves when it has ended. */
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

  /** Kills the process and its process group. */
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
