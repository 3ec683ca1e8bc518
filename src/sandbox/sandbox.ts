/**
 * Runs the code of tenants in a process of its own (docs/design/code-schemas.md). Calls are gathered into messages. A
 * process that a call takes too much of is ended, and the calls that it had not answered go to the next one, one at a time:
 * so it is known which call it was, and the others are done.
 */
import { codeBuildCpuMs, codeMemoryMebibytes, codeProgramsCharactersMax } from '../contract/limits.ts';
import type { CodeCall, CodeReply, ProgramKind, ProgramSet } from '../schemas/code/call.ts';
import { Conduct } from './conduct.ts';
import type { DescribeReply, FromSandbox } from './protocol.ts';
import { type EndReason, SandboxProcess } from './sandbox-process.ts';

/** Characters of the calls of one message. */
const messageCharacters = 512 * 1024;
const callsPerMessage = 200;
/** Sets of programs that a process keeps. */
const setsKept = 500;
/** A call that a process ended with, for a reason that is not the call's, is tried again so often. */
const triesMax = 3;

/** Something to run in the sandbox, and who waits for it. */
interface Job {
  readonly set: ProgramSet;
  /** JSON text: of a call, or of a whole message. */
  readonly text: string;
  readonly isMessage: boolean;
  /** Tells the program from all others. */
  readonly program: string;
  /** All before it is answered before it begins. */
  readonly isTold: boolean;
  /** As in a call. */
  readonly spentMs: number;
  readonly done: (reply: FromSandbox) => void;
  readonly failed: (error: Error) => void;
  tries: number;
}

export class Sandbox {
  #process: SandboxProcess | null = null;
  #isReady = false;
  readonly #waiting: Job[] = [];
  /** Calls of the message that is under way, those that are not answered. */
  #running: Job[] = [];
  /** The next so many calls go alone: one of them ended a process. */
  #alone = 0;
  #isClosed = false;
  #isScheduled = false;
  /** Where programs run that took too much once: others do not wait for them. */
  #apart: Sandbox | null = null;

  /** @param mayBeSuspect true for the one where such programs run */
  constructor(
    private readonly conduct = new Conduct(),
    private readonly mayBeSuspect = false,
  ) {}

  /** Starts its process, so that the first call does not wait for that. */
  warm(): void {
    if (!this.#isClosed) this.#started();
  }

  /** Replies in the order of the calls. @throws Error when the sandbox cannot be run at all */
  async run(calls: readonly CodeCall[]): Promise<CodeReply[]> {
    return await Promise.all(
      calls.map((call) => {
        const { set, task, alias, spentMs } = call;
        const program = `${set.id} ${task} ${alias}`;
        const isTold = !this.conduct.isSound(program);
        const text = textOfCall(call, isTold);
        return this.#add<CodeReply>({ set, program, text, isMessage: false, isTold, spentMs });
      }),
    );
  }

  /** What a program says of itself. @throws Error when the sandbox cannot be run at all */
  async describe(set: ProgramSet, program: ProgramKind, alias: string): Promise<DescribeReply> {
    const text = JSON.stringify({ kind: 'describe', id: set.id, program, alias });
    const name = `${set.id} ${program} ${alias}`;
    return await this.#add<DescribeReply>({
      set,
      program: name,
      text,
      isMessage: true,
      isTold: true,
      spentMs: 0,
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#apart?.close();
    this.#process?.end('closed');
    this.#process = null;
    for (const job of [...this.#running, ...this.#waiting]) job.failed(new Error('the sandbox is closed'));
    this.#running = [];
    this.#waiting.length = 0;
  }

  #add<Reply extends FromSandbox>(
    asked: Pick<Job, 'set' | 'program' | 'text' | 'isMessage' | 'isTold' | 'spentMs'>,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new Error('the sandbox is closed'));
        return;
      }
      const done = (reply: FromSandbox) => resolve(reply as Reply);
      this.#take({ ...asked, done, failed: reject, tries: 0 });
    });
  }

  #take(job: Job): void {
    if (this.mayBeSuspect || !this.conduct.isSuspect(job.program)) {
      this.#waiting.push(job);
      this.#schedule();
      return;
    }
    this.#apart ??= new Sandbox(this.conduct, true);
    this.#apart.#take(job);
  }

  /** What is asked for in one turn of the event loop goes together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#next();
    });
  }

  #next(): void {
    if (this.#running.length > 0) return;
    this.#refusePaused();
    const [first] = this.#waiting;
    if (first === undefined) return;
    const process = this.#started();
    if (!this.#isReady) return;
    this.#open(process, first.set);
    const jobs = this.#portion(first);
    this.#running = jobs;
    process.startWatch();
    if (first.isMessage) process.send(first.text);
    else {
      process.send(
        `{"kind":"run","id":${JSON.stringify(first.set.id)},"calls":[${jobs.map(({ text }) => text).join(',')}]}`,
      );
    }
  }

  #refusePaused(): void {
    for (let job = this.#waiting[0]; job !== undefined; job = this.#waiting[0]) {
      const retryInMs = this.conduct.pausedForMs(job.set.id, job.program);
      if (retryInMs === 0) return;
      this.#waiting.shift();
      job.done({ ...failed(paused), retryInMs });
    }
  }

  /** Calls of one set, the first that waits among them. */
  #portion(first: Job): Job[] {
    const jobs: Job[] = [];
    let characters = 0;
    const isAlone = first.isMessage || this.#alone > 0 || this.mayBeSuspect;
    const countMax = isAlone ? 1 : callsPerMessage;
    for (const job of this.#waiting) {
      if (job.set.id !== first.set.id || job.isMessage !== first.isMessage) break;
      if (this.conduct.pausedForMs(job.set.id, job.program) > 0) break;
      if (jobs.length === countMax || (jobs.length > 0 && characters + job.text.length > messageCharacters))
        break;
      characters += job.text.length;
      jobs.push(job);
    }
    this.#waiting.splice(0, jobs.length);
    return jobs;
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

  /** Closes sets until there is room for one of so many characters: a build has its memory beside them. */
  #closeOldest(process: SandboxProcess, characters: number): void {
    let left = total(process.open.values()) + characters;
    for (const [oldest, itsCharacters] of process.open) {
      if (process.open.size < setsKept && left <= codeProgramsCharactersMax) return;
      process.open.delete(oldest);
      left -= itsCharacters;
      process.send({ kind: 'close', id: oldest });
    }
  }

  /** What waits here of programs that are suspect by now. */
  #sendApart(): void {
    if (this.mayBeSuspect) return;
    for (const job of this.#waiting.splice(0)) this.#take(job);
  }

  #started(): SandboxProcess {
    if (this.#process !== null) return this.#process;
    const started: SandboxProcess = new SandboxProcess({
      answered: (reply) => {
        if (started === this.#process) this.#answered(reply);
      },
      ended: (reason, detail) => {
        if (started === this.#process) this.#ended(reason, detail);
      },
    });
    started.startWatch();
    this.#isReady = false;
    this.#process = started;
    return started;
  }

  #answered(reply: FromSandbox): void {
    if (reply.kind === 'ready') {
      this.#isReady = true;
      this.#process?.stopWatch();
      this.#next();
      return;
    }
    const job = this.#running.shift();
    if (job !== undefined) this.#done(job, reply);
    if (this.#running.length > 0) return;
    this.#alone = Math.max(0, this.#alone - 1);
    this.#process?.stopWatch();
    this.#next();
  }

  #done(job: Job, reply: FromSandbox): void {
    // What begins anew for each lookup may not take longer than what does all at once.
    if (reply.kind === 'asks' && job.spentMs + reply.cpuMs > codeBuildCpuMs) {
      this.conduct.offended(job.set.id, job.program);
      job.done(failed(limitMessage('time')));
      return;
    }
    this.conduct.behaved(job.program);
    job.done(reply);
  }

  #ended(reason: EndReason, detail: string): void {
    this.#process = null;
    this.#isReady = false;
    const [first, ...others] = this.#running;
    this.#running = [];
    const error = new Error(`the sandbox of schemas in JavaScript ended: ${detail}`);
    if (first === undefined) {
      // It never began: trying without end would help nobody.
      if (reason !== 'closed') for (const job of this.#waiting.splice(0)) job.failed(error);
      return;
    }
    const isLimit = reason === 'time' || reason === 'memory';
    if (others.length > 0 && !(isLimit && first.isTold)) {
      this.#alone = others.length + 1;
      this.#waiting.unshift(first, ...others);
    } else if (isLimit) {
      this.#waiting.unshift(...others);
      this.conduct.offended(first.set.id, first.program);
      first.done(failed(limitMessage(reason)));
      this.#sendApart();
    } else if (first.tries < triesMax) {
      first.tries += 1;
      this.#waiting.unshift(first);
    } else {
      first.failed(error);
    }
    this.#schedule();
  }
}

function total(counts: Iterable<number>): number {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
}

function limitMessage(reason: 'time' | 'memory'): string {
  return reason === 'time'
    ? `the schema ran for more than ${codeBuildCpuMs} ms of processor time`
    : `the schema ran out of memory: a build has ${codeMemoryMebibytes} MB`;
}

const paused =
  'the schema is not run for a while, because it took too much time or memory before; it is tried again by itself';

function failed(message: string): Extract<CodeReply, { kind: 'failed' }> {
  return { kind: 'failed', failure: { message, program: null, line: 0, column: 0 }, findings: [], log: [] };
}

function textOfCall({ task, alias, input, answers }: CodeCall, isTold: boolean): string {
  const texts = [...answers].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  const told = isTold ? '"isTold":true,' : '';
  return `{"task":"${task}","alias":${JSON.stringify(alias)},${told}"input":${input},"answers":{${texts.join(',')}}}`;
}
