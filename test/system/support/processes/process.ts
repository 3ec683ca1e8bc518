/** A process of the system under test, which can be killed, stopped, paused and restarted. It ends with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const keptCharacters = 200_000;
const stopMs = 20_000;

const running = new Set<ChildProcess>();

function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

process.once('exit', killAll);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    killAll();
    process.exit(1);
  });
}

export interface ProcessCommand {
  readonly program: string;
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class SystemProcess {
  /** The end of its output, over all its runs. */
  output = '';
  /** The end of its output since its last start. */
  outputOfThisLife = '';
  #child: ChildProcess | null = null;
  #ended: Promise<ProcessEnd> = Promise.resolve({ code: 0, signal: null });
  /** The test has sent a signal that may end it. */
  #isEndExpected = false;
  /** Unexpected exits. */
  readonly surprises: string[] = [];

  constructor(
    readonly name: string,
    private readonly command: () => ProcessCommand,
  ) {}

  get isRunning(): boolean {
    return this.#child !== null;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Its standard input stays open while this process runs, so that it exits after this process has died. */
  start(): void {
    if (this.#child !== null) throw new Error(`${this.name} runs already`);
    const { program, words, env } = this.command();
    const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    this.#isEndExpected = false;
    this.outputOfThisLife = '';
    running.add(child);
    child.stdin.on('error', () => {});
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        this.output = (this.output + text).slice(-keptCharacters);
        this.outputOfThisLife = (this.outputOfThisLife + text).slice(-keptCharacters);
      });
    }
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        running.delete(child);
        this.#child = null;
        if (!this.#isEndExpected) this.surprises.push(`${this.name} ended by itself (${signal ?? code})`);
        resolve({ code, signal });
      });
    });
  }

  /** Waits until it exits by itself, as a command does. */
  async ended(): Promise<ProcessEnd> {
    this.#isEndExpected = true;
    return await this.#ended;
  }

  /** Sends a signal, and waits for the exit if the signal ends the process. */
  async signal(signal: NodeJS.Signals): Promise<ProcessEnd | null> {
    const isPause = signal === 'SIGSTOP' || signal === 'SIGCONT' || signal === 'SIGHUP';
    if (!isPause) this.#isEndExpected = true;
    this.#child?.kill(signal);
    return isPause ? null : await this.#ended;
  }

  /** Sends SIGTERM, like an operator. A process that does not exit in time is killed, which counts as a surprise. */
  async stop(): Promise<ProcessEnd> {
    this.#isEndExpected = true;
    const child = this.#child;
    if (child === null) return await this.#ended;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const isEnded = await Promise.race([this.#ended.then(() => true), sleep(stopMs, false, { ref: false })]);
    if (!isEnded) {
      this.surprises.push(`${this.name} did not end within ${stopMs} ms of SIGTERM`);
      child.kill('SIGKILL');
    }
    return await this.#ended;
  }
}
