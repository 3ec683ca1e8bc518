/**
 * Runs the code of one tenant in a process of its own, which starts with the first call. Calls of a program are gathered
 * into messages. A process that a call takes too much of is ended, and the calls that it had not answered go to the next
 * one, one at a time: so it is known which call it was, and the others are done.
 */
import { codeBuildCpuMs, codeMemoryMebibytes, codeProgramsCharactersMax } from '../contract/limits.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import type { CodeReply, ProgramSet } from '../schemas/build/code-call.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { type Job, WaitingJobs } from './job.ts';
import type { FromSandbox } from './protocol.ts';
import { type EndReason, SandboxProcess } from './sandbox-process.ts';
import { FairShares, type TenantTurns } from './tenant-turns.ts';

/** Characters of the calls of one message. */
const messageCharacters = 512 * 1024;
const callsPerMessage = 200;
/** Expected processor time of a message: others wait for its end. */
const messageMs = 50;
/** How much of the estimate a cheaper build leaves. A dearer one replaces it. */
const costMemory = 0.9;
/** Sets of programs that a process keeps: those of former configurations are closed. */
const setsKept = 100;
/** A call alone that a process ended with, for a reason that is not known, is tried again so often. Then it is the reason. */
const triesMax = 3;
const programsRemembered = { entriesMax: 10_000 };

/** The resource that a call exceeded. `unknown`: one that makes its process crash. */
type Limit = 'time' | 'memory' | 'unknown';

export interface TenantSandboxHost {
  readonly turns: TenantTurns;
  readonly breaker: CircuitBreaker;
  /** More tenants have something to run than may have processes. */
  readonly isCrowded: boolean;
  /** A process is about to start: one that is idle may have to end for it. */
  makeRoom(): void;
  /** Nothing is left to run. */
  onIdle(sandbox: TenantSandbox): void;
}

export class TenantSandbox {
  #process: SandboxProcess | null = null;
  #isReady = false;
  readonly #waiting = new WaitingJobs();
  /** Jobs whose circuit breaker is open. */
  readonly #held = new Map<Job, NodeJS.Timeout>();
  readonly #shares = new FairShares();
  /** Processor time of a build of each program. */
  readonly #costsMs = new BoundedCache<string, number>(programsRemembered);
  /** Programs that kept within their limits. Of others it must be known at once which call took too much. */
  readonly #sound = new BoundedCache<string, true>(programsRemembered);
  /** Jobs of the message that is under way, those that are not answered. */
  #running: Job[] = [];
  #usedMs = 0;
  /** The next so many calls go alone: one of them ended a process. */
  #alone = 0;
  #isWorking = false;
  #hasTurn = false;
  #isClosed = false;
  /** Called when the process is ready, when the message under way is over, and when the process has ended. */
  #wake = () => {};

  constructor(
    readonly owner: string,
    private readonly host: TenantSandboxHost,
  ) {}

  get hasProcess(): boolean {
    return this.#process !== null;
  }

  /** True while its process may be doing something. */
  get hasTurn(): boolean {
    return this.#hasTurn;
  }

  get isIdle(): boolean {
    return !this.#isWorking;
  }

  /** True for a program that kept within its limits and did not take too much since. */
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

  /** Takes back a job that is not under way. */
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
    // What is asked for in one turn of the event loop goes together.
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
   * Sends one message. Where the process may have ended before the next turn: more, while less time went into them than into
   * its start.
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

  /** Sends one message and waits for its answers. */
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

  /** How many jobs of a program go into one message. */
  #portion(program: string): number {
    if (this.#alone > 0) return 1;
    // Of a program that was never run nothing is known: its first call goes alone.
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
      // The set that was used longest ago is the first.
      process.open.delete(id);
      process.open.set(id, known);
      return;
    }
    const characters = total(Array.from(programs.values(), ({ length }) => length));
    this.#closeOldest(process, characters);
    process.open.set(id, characters);
    process.send({ kind: 'open', id, programs: [...programs] });
  }

  /** Closes sets until there is room for one of this many characters: a build has its memory beside them. */
  #closeOldest(process: SandboxProcess, characters: number): void {
    let left = total(process.open.values()) + characters;
    for (const [oldest, itsCharacters] of process.open) {
      if (process.open.size < setsKept && left <= codeProgramsCharactersMax) return;
      process.open.delete(oldest);
      left -= itsCharacters;
      process.send({ kind: 'close', id: oldest });
    }
  }

  /** Null when the machine has no process for it: nothing waits any more then. */
  #started(): SandboxProcess | null {
    if (this.#process !== null) return this.#process;
    this.host.makeRoom();
    this.#isReady = false;
    try {
      this.#process = this.#start();
    } catch (error) {
      this.#cannotBegin(String(error));
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
    this.#noteCost(job.program, cpuMs);
    // A build that is run again for each lookup may not take longer than one that asks for all at once.
    if (reply.kind === 'asks' && job.spentMs + cpuMs > codeBuildCpuMs) {
      this.#tookTooMuch(job, 'time');
      return;
    }
    this.#sound.set(job.program, true);
    job.done(reply);
  }

  #noteCost(program: string, cpuMs: number): void {
    const beforeMs = this.#costsMs.get(program) ?? 0;
    this.#costsMs.set(program, Math.max(cpuMs, costMemory * beforeMs + (1 - costMemory) * cpuMs));
  }

  #tookTooMuch(job: Job, limit: Limit): void {
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
      if (!wasReady) this.#cannotBegin(detail);
      this.#wake();
      return;
    }
    this.#usedMs += codeBuildCpuMs;
    const isLimit = reason === 'time' || reason === 'memory';
    // Answers of sound programs are sent together: the first without one may be done.
    if (isLimit && (others.length === 0 || first.isTold)) {
      this.#waiting.putBack(others);
      this.#noteCost(first.program, codeBuildCpuMs);
      this.#tookTooMuch(first, reason);
    } else {
      this.#again(first, others);
    }
    this.#wake();
  }

  /** Endless retries would not help. */
  #cannotBegin(detail: string): void {
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
      this.#tookTooMuch(first, 'unknown');
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
  if (limit === 'memory') return `the schema ran out of memory: a build has ${codeMemoryMebibytes} MB`;
  return 'the schema crashed its process each time: use smaller strings and arrays';
}

function failed(message: string): CodeReply {
  const failure = { message, program: null, line: 0, column: 0 };
  return { kind: 'failed', failure, findings: [], log: [], cpuMs: codeBuildCpuMs };
}
