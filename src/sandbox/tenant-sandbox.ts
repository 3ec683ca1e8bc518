/**
 * Runs the code of one tenant in its own process, which starts with the first call. Calls of a program are batched into
 * messages. If a call exceeds a limit, the process is killed, and its unfinished calls are sent to a new one, one at a time, to
 * find the call that exceeded the limit and to finish the others.
 */
import { codeBuildCpuMs, codeMemoryMebibytes, codeProgramsCharactersMax } from '../contract/limits.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import type { CodeReply, ProgramSet } from '../schemas/build/code-call.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { type Job, WaitingJobs } from './job.ts';
import type { FromSandbox } from './protocol.ts';
import { type EndReason, SandboxProcess } from './sandbox-process.ts';
import { FairShares, type TenantTurns } from './tenant-turns.ts';

/** Maximum size of the calls in a message, in characters. */
const messageCharacters = 512 * 1024;
const callsPerMessage = 200;
/** Target processor time of a message, because other programs wait for its end. */
const messageMs = 50;
/** Weight of the old estimate after a cheaper build. A more expensive build replaces the estimate. */
const costMemory = 0.9;
/** Maximum number of program sets in a process; those of previous configurations are closed. */
const setsKept = 100;
/**
 * Number of retries of a single call after its process ended for an unknown reason. After that, the call counts as the cause.
 */
const triesMax = 3;
const programsRemembered = { entriesMax: 10_000 };

/** The limit that a call exceeded. `unknown`: its process crashed. */
type Limit = 'time' | 'memory' | 'unknown';

export interface TenantSandboxHost {
  readonly turns: TenantTurns;
  readonly breaker: CircuitBreaker;
  /** True if more tenants have work than may have processes. */
  readonly isCrowded: boolean;
  /** Called before a process starts, to end an idle one if necessary. */
  makeRoom(): void;
  /** Called when no work is left. */
  onIdle(sandbox: TenantSandbox): void;
}

export class TenantSandbox {
  #process: SandboxProcess | null = null;
  #isReady = false;
  readonly #waiting = new WaitingJobs();
  /** Jobs whose circuit breaker is open. */
  readonly #held = new Map<Job, NodeJS.Timeout>();
  readonly #shares = new FairShares();
  /** Estimated processor time of a build, by program. */
  readonly #costsMs = new BoundedCache<string, number>(programsRemembered);
  /**
   * Programs that have stayed within their limits. For others, replies are flushed so that a call over the limit can be
   * identified.
   */
  readonly #sound = new BoundedCache<string, true>(programsRemembered);
  /** Unanswered jobs of the current message. */
  #running: Job[] = [];
  #usedMs = 0;
  /** Number of calls to send alone, because one of them ended a process. */
  #alone = 0;
  #isWorking = false;
  #hasTurn = false;
  #isClosed = false;
  /** Called when the process is ready, when the current message is finished, and when the process has ended. */
  #wake = () => {};

  constructor(
    readonly owner: string,
    private readonly host: TenantSandboxHost,
  ) {}

  get hasProcess(): boolean {
    return this.#process !== null;
  }

  /** True while its process may be working. */
  get hasTurn(): boolean {
    return this.#hasTurn;
  }

  get isIdle(): boolean {
    return !this.#isWorking;
  }

  /** True for a program whose last build stayed within the limits. */
  isSound(program: string): boolean {
    return this.#sound.get(program) !== undefined;
  }

  add(job: Job): void {
    const openForMs = job.isMessage ? 0 : this.host.breaker.openForMs(job.program, job.input);
    if (openForMs > 0) {
      this.#held.set(
        job,
        setTimeout(() => {
          this.#held.delete(job);
          this.add(job);
        }, openForMs),
      );
      return;
    }
    this.#waiting.add(job);
    this.#startWork();
  }

  /** Removes a job that is not running. */
  withdraw(job: Job): void {
    clearTimeout(this.#held.get(job));
    this.#held.delete(job);
    this.#waiting.remove(job);
  }

  /** Ends the process of an idle tenant; the next call starts another. */
  endProcess(): void {
    this.#process?.end('closed');
    this.#process = null;
    this.#isReady = false;
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#held.values()) clearTimeout(timer);
    const jobs = [...this.#running, ...this.#waiting.takeAll(), ...this.#held.keys()];
    this.#running = [];
    this.#held.clear();
    this.endProcess();
    for (const job of jobs) job.failed(new Error('the sandbox is closed'));
    this.#wake();
  }

  #startWork(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    // Batches the calls of one turn of the event loop.
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    while (!this.#waiting.isEmpty) {
      await this.host.turns.begin(this.owner);
      this.#hasTurn = true;
      await this.#useTurn();
      this.#hasTurn = false;
      this.host.turns.end(this.owner, this.#usedMs);
    }
    this.#isWorking = false;
    this.host.onIdle(this);
  }

  /**
   * Sends one message. If processes are scarce, so that this one may end before the next turn, it sends more until they have
   * taken as long as the start.
   */
  async #useTurn(): Promise<void> {
    this.#usedMs = 0;
    const process = this.#started();
    if (process === null) return;
    if (!this.#isReady) {
      await this.#woken();
      this.#usedMs += process.usedMs();
    }
    const startMs = this.#usedMs;
    do {
      if (process !== this.#process || !this.#isReady || this.#waiting.isEmpty) return;
      await this.#exchange(process);
    } while (this.#usedMs < 2 * startMs && this.host.isCrowded);
  }

  /** Sends one message and waits for its replies. */
  async #exchange(process: SandboxProcess): Promise<void> {
    const program = this.#shares.next(this.#waiting.programs);
    const jobs = this.#waiting.take(program, this.#portion(program));
    const [first] = jobs;
    if (first === undefined) return;
    this.#open(process, first.set);
    this.#running = jobs;
    process.startWatch();
    process.send(first.isMessage ? first.text : messageOf(first.set, jobs));
    const beforeMs = this.#usedMs;
    await this.#woken();
    this.#shares.charge(program, this.#usedMs - beforeMs);
  }

  #woken(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Number of jobs of a program for the next message. */
  #portion(program: string): number {
    if (this.#alone > 0) return 1;
    // The cost of a new program is unknown, so its first call is sent alone.
    const costMs = this.#costsMs.get(program) ?? messageMs;
    const countMax = Math.min(callsPerMessage, messageMs / Math.max(0.01, costMs));
    let count = 0;
    let characters = 0;
    for (const job of this.#waiting.of(program)) {
      characters += job.text.length;
      if (count > 0 && (job.isMessage || count >= countMax || characters > messageCharacters)) break;
      count += 1;
    }
    return count;
  }

  #open(process: SandboxProcess, { id, programs }: ProgramSet): void {
    const known = process.open.get(id);
    if (known !== undefined) {
      // Move it to the end: the least recently used set is first.
      process.open.delete(id);
      process.open.set(id, known);
      return;
    }
    const characters = total(Array.from(programs.values(), ({ length }) => length));
    this.#closeOldest(process, characters);
    process.open.set(id, characters);
    process.send({ kind: 'open', id, programs: [...programs] });
  }

  /** Closes sets until there is room for one of this many characters, because builds share the memory with them. */
  #closeOldest(process: SandboxProcess, characters: number): void {
    let left = total(process.open.values()) + characters;
    for (const [oldest, itsCharacters] of process.open) {
      if (process.open.size < setsKept && left <= codeProgramsCharactersMax) return;
      process.open.delete(oldest);
      left -= itsCharacters;
      process.send({ kind: 'close', id: oldest });
    }
  }

  /** Null if no process can be started; all waiting jobs have failed then. */
  #started(): SandboxProcess | null {
    if (this.#process !== null) return this.#process;
    this.host.makeRoom();
    this.#isReady = false;
    try {
      this.#process = this.#start();
    } catch (error) {
      this.#failWaiting(String(error));
    }
    return this.#process;
  }

  #start(): SandboxProcess {
    const started: SandboxProcess = new SandboxProcess({
      answered: (reply) => {
        if (started === this.#process) this.#answered(reply);
      },
      ended: (reason, detail) => {
        if (started === this.#process) this.#ended(reason, detail);
      },
    });
    started.startWatch();
    return started;
  }

  #answered(reply: FromSandbox): void {
    if (reply.kind === 'ready') {
      this.#isReady = true;
      this.#process?.stopWatch();
      this.#wake();
      return;
    }
    const job = this.#running.shift();
    if (job !== undefined) this.#done(job, reply);
    if (this.#running.length > 0) return;
    this.#alone = Math.max(0, this.#alone - 1);
    this.#process?.stopWatch();
    this.#wake();
  }

  #done(job: Job, reply: FromSandbox): void {
    const cpuMs = 'cpuMs' in reply ? reply.cpuMs : 0;
    this.#usedMs += cpuMs;
    this.#updateCost(job.program, cpuMs);
    // The limit applies to the total time of a build that is repeated for each lookup.
    if (reply.kind === 'asks' && job.spentMs + cpuMs > codeBuildCpuMs) {
      this.#exceeded(job, 'time');
      return;
    }
    this.#sound.set(job.program, true);
    job.done(reply);
  }

  #updateCost(program: string, cpuMs: number): void {
    const beforeMs = this.#costsMs.get(program) ?? 0;
    this.#costsMs.set(program, Math.max(cpuMs, costMemory * beforeMs + (1 - costMemory) * cpuMs));
  }

  #exceeded(job: Job, limit: Limit): void {
    this.#sound.delete(job.program);
    this.host.breaker.trip(job.program, job.input);
    job.done(failed(limitMessage(limit)));
  }

  #ended(reason: EndReason, detail: string): void {
    const wasReady = this.#isReady;
    this.#process = null;
    this.#isReady = false;
    const [first, ...others] = this.#running;
    this.#running = [];
    if (first === undefined) {
      if (!wasReady) this.#failWaiting(detail);
      this.#wake();
      return;
    }
    this.#usedMs += codeBuildCpuMs;
    const isLimit = reason === 'time' || reason === 'memory';
    // Replies of programs in `#sound` are buffered, so the first call without a reply may have finished.
    if (isLimit && (others.length === 0 || first.flushFirst)) {
      this.#waiting.putBack(others);
      this.#updateCost(first.program, codeBuildCpuMs);
      this.#exceeded(first, reason);
    } else {
      this.#again(first, others);
    }
    this.#wake();
  }

  /** Fails all waiting jobs, because endless retries would not help. */
  #failWaiting(detail: string): void {
    const error = new Error(`the process for schemas in JavaScript cannot start: ${detail}`);
    for (const job of this.#waiting.takeAll()) job.failed(error);
  }

  #again(first: Job, others: readonly Job[]): void {
    if (others.length > 0) {
      this.#alone = others.length + 1;
      this.#waiting.putBack([first, ...others]);
    } else if (first.tries < triesMax) {
      first.tries += 1;
      this.#waiting.putBack([first]);
    } else {
      this.#exceeded(first, 'unknown');
    }
  }
}

function messageOf({ id }: ProgramSet, jobs: readonly Job[]): string {
  return `{"kind":"run","id":${JSON.stringify(id)},"calls":[${jobs.map(({ text }) => text).join(',')}]}`;
}

function total(counts: Iterable<number>): number {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
}

function limitMessage(limit: Limit): string {
  if (limit === 'time') return `the schema ran for more than ${codeBuildCpuMs} ms of processor time`;
  if (limit === 'memory') return `the schema ran out of memory: a build has ${codeMemoryMebibytes} MiB`;
  return 'the schema crashed its process each time: use smaller strings and arrays';
}

function failed(message: string): CodeReply {
  const failure = { message, program: null, line: 0, column: 0 };
  return { kind: 'failed', failure, findings: [], log: [], cpuMs: codeBuildCpuMs };
}
