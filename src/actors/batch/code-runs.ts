/**
 * Runs code for the batches of a partition without blocking them: a batch waits for a limited time. Unanswered calls continue
 * during other batches, and the batch that builds the output again finds their replies. This is safe, because the same call
 * always has the same reply.
 */
import { batchWaitMs, codeBuildCpuMs, codeOpenBuildsMax, codePatienceMs } from '../../contract/limits.ts';
import type { CodeCall, CodeReply } from '../../schemas/build/code-call.ts';
import type { CallMemory, OpenBuild } from './call-memory.ts';
import type { CodeSandbox } from './code-replies.ts';
import type { LookupDemand } from './lookup-source.ts';

/** Pause after a failure of the sandbox. */
const errorPauseMs = 1_000;
/** After this many discarded calls, because their input keeps changing, the batch waits for an output. */
const missesMax = 3;
const overdueWaitMs = 2 * codeBuildCpuMs;
/** A partition spends at most this fraction (1/n) of its time on such waits. */
const overdueShare = 10;

/** Sends calls to a sandbox. `Sandbox` implements it. */
export interface CodeSource {
  ask(call: CodeCall): { readonly reply: Promise<CodeReply>; withdraw(): void };
}

interface Open extends OpenBuild {
  readonly runs: readonly Run[];
}

interface Run {
  readonly call: CodeCall;
  /** The build, if it continues after its batch; null while the batch waits. */
  open: Open | null;
  /** Settles with a reply or a failure. */
  readonly settled: Promise<void>;
  withdraw: () => void;
  reply: CodeReply | null;
  hasFailed: boolean;
}

export class CodeRuns implements CodeSandbox {
  /** Outputs that wait for replies -> the calls of their last build, answered or not. */
  readonly #open = new Map<string, Open>();
  readonly lookups = new Map<string, readonly LookupDemand[]>();
  /** Calls of the current batch, by output. */
  #batch = new Map<string, Run[]>();
  /** How long the current batch still waits for code. */
  #patienceMs = 0;
  /** Outputs that wait for replies -> how often their calls were discarded. */
  readonly #misses = new Map<string, number>();
  /** The one output that the current batch waits for longer, and for how much longer. */
  #overdue: string | null = null;
  #overdueLeftMs = 0;
  /** When the next long wait may start. */
  #overdueFromMs = 0;
  #isPaused = false;
  #isEnded = false;
  readonly #forgetRoom: () => void;

  /**
   * @param onAnswer called when a waiting output may have all its replies, or room
   * @param onError called when the sandbox fails
   */
  constructor(
    private readonly source: CodeSource,
    private readonly memory: CallMemory,
    private readonly onAnswer: () => void,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#forgetRoom = memory.onRoom(onAnswer);
  }

  /** Begins a batch or its retry. @param waitMs how long it waits for code while replies arrive */
  begin(waitMs = batchWaitMs): void {
    this.settle(new Set());
    this.#patienceMs = waitMs;
    this.#overdue = null;
    this.#overdueLeftMs = overdueWaitMs;
  }

  /** @param askers names of the calling outputs, in the order of the calls */
  async run(calls: readonly CodeCall[], askers: readonly string[]): Promise<readonly (CodeReply | null)[]> {
    const runs = calls.map((call, at) => this.#runOf(call, askers[at] ?? ''));
    const open = runs.filter(({ reply, hasFailed }) => reply === null && !hasFailed);
    if (open.length > 0) await this.#patience(open);
    if (open.some(isUnanswered)) await this.#waitForOverdue(askers);
    return runs.map(({ reply }) => reply);
  }

  /** Ends a batch. @param deferred names of its outputs that wait for code */
  settle(deferred: ReadonlySet<string>): void {
    for (const [asker, runs] of this.#batch) {
      const before = this.#close(asker);
      // Replies after the batch stopped waiting are kept for the next one.
      const isOpen =
        deferred.has(asker) && !runs.every(({ hasFailed }) => hasFailed) && this.#opens(asker, runs);
      if (!isOpen) this.#drop(asker);
      else if (before.some((run) => !run.hasFailed && !runs.includes(run)))
        this.#misses.set(asker, this.#missesOf(asker) + 1);
      withdraw(isOpen ? before.filter((run) => !runs.includes(run)) : [...before, ...runs]);
    }
    this.#batch = new Map();
  }

  /** True while calls of the output are running, or have unused replies. */
  isOpen(asker: string): boolean {
    return this.#open.has(asker);
  }

  isAnswered(asker: string): boolean {
    return !this.#runsOf(asker).some(isUnanswered);
  }

  /** The output no longer needs replies. */
  forget(asker: string): void {
    withdraw(this.#close(asker));
    this.#drop(asker);
  }

  /** True if another output of the tenant may wait with calls in flight. */
  hasRoom(tenant: string): boolean {
    if (this.#isPaused || this.memory.isFullFor(tenant)) return false;
    let count = 0;
    for (const open of this.#open.values()) if (open.tenant === tenant) count += 1;
    return count < codeOpenBuildsMax;
  }

  end(): void {
    this.#isEnded = true;
    this.settle(new Set());
    for (const asker of [...this.#open.keys()]) this.forget(asker);
    this.#forgetRoom();
  }

  #drop(asker: string): void {
    this.lookups.delete(asker);
    this.#misses.delete(asker);
  }

  #missesOf(asker: string): number {
    return this.#misses.get(asker) ?? 0;
  }

  #runsOf(asker: string): readonly Run[] {
    return this.#open.get(asker)?.runs ?? [];
  }

  /** @returns false if there is no room for the output to wait with calls in flight */
  #opens(asker: string, runs: readonly Run[]): boolean {
    const tenant = runs[0]?.call.set.owner ?? '';
    if (!this.hasRoom(tenant)) return false;
    const characters = runs.reduce((sum, run) => sum + charactersOfRun(run), 0);
    const open = { tenant, characters, runs, cancel: () => this.#cancel(runs) };
    if (!this.memory.reserve(open)) return false;
    this.#open.set(asker, open);
    for (const run of runs) run.open = open;
    return true;
  }

  /** @returns its calls */
  #close(asker: string): readonly Run[] {
    const open = this.#open.get(asker);
    if (open === undefined) return [];
    this.#open.delete(asker);
    for (const run of open.runs) run.open = null;
    this.memory.release(open);
    return open.runs;
  }

  /** Cancels the calls to make room for another tenant. The build starts over when there is room again. */
  #cancel(runs: readonly Run[]): void {
    withdraw(runs);
    for (const run of runs) {
      run.hasFailed = true;
      run.reply = null;
    }
    this.onAnswer();
  }

  #runOf(call: CodeCall, asker: string): Run {
    const known = this.#runsOf(asker).find((run) => !run.hasFailed && isSameCall(run.call, call));
    const run = known ?? this.#ask(call);
    const ofAsker = this.#batch.get(asker);
    if (ofAsker === undefined) this.#batch.set(asker, [run]);
    else ofAsker.push(run);
    return run;
  }

  #ask(call: CodeCall): Run {
    const asked = this.source.ask(call);
    const run: Run = {
      call,
      settled: asked.reply.then(
        (reply) => {
          // Release the reference to the text of the call.
          run.withdraw = () => {};
          if (!run.hasFailed) run.reply = reply;
          if (run.open !== null) this.memory.grow(run.open, charactersOfReply(reply));
          this.onAnswer();
        },
        (error: unknown) => {
          run.hasFailed = true;
          this.#failed(error);
        },
      ),
      open: null,
      withdraw: () => asked.withdraw(),
      reply: null,
      hasFailed: false,
    };
    return run;
  }

  /** Reports the error, and retries waiting calls after a pause. */
  #failed(error: unknown): void {
    if (this.#isEnded || this.#isPaused) return;
    this.#isPaused = true;
    this.onError(error);
    const over = () => {
      this.#isPaused = false;
      this.onAnswer();
    };
    setTimeout(over, errorPauseMs).unref();
  }

  /** Waits while replies arrive. After the first timeout, the batch no longer waits. */
  async #patience(runs: readonly Run[]): Promise<void> {
    const patienceMs = this.#patienceMs;
    if (patienceMs <= 0) return;
    const startMs = performance.now();
    let timer: NodeJS.Timeout | null = null;
    let isSilent = false;
    const over = new Promise<void>((resolve) => {
      let unanswered = runs.length;
      timer = setInterval(
        () => {
          const left = runs.filter(isUnanswered).length;
          isSilent = left === unanswered;
          unanswered = left;
          if (isSilent || performance.now() - startMs > patienceMs) resolve();
        },
        Math.min(codePatienceMs, patienceMs),
      );
    });
    await Promise.race([Promise.all(runs.map(({ settled }) => settled)), over]);
    if (timer !== null) clearInterval(timer);
    // Concurrent waits count once.
    const leftMs = patienceMs - (performance.now() - startMs);
    this.#patienceMs = isSilent ? 0 : Math.min(this.#patienceMs, leftMs);
  }

  /**
   * Otherwise an output that changes faster than it is built would never be built, and reads with a version would wait for it.
   */
  async #waitForOverdue(askers: readonly string[]): Promise<void> {
    const startMs = performance.now();
    if (this.#overdue === null && startMs < this.#overdueFromMs) return;
    this.#overdue ??= askers.find((asker) => this.#missesOf(asker) >= missesMax) ?? null;
    if (this.#overdue === null) return;
    const runs = (this.#batch.get(this.#overdue) ?? []).filter(isUnanswered);
    let timer: NodeJS.Timeout | null = null;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#overdueLeftMs);
    });
    await Promise.race([Promise.all(runs.map(({ settled }) => settled)), over]);
    if (timer !== null) clearTimeout(timer);
    const endMs = performance.now();
    this.#overdueLeftMs = Math.max(0, this.#overdueLeftMs - (endMs - startMs));
    this.#overdueFromMs = Math.max(this.#overdueFromMs, endMs) + (overdueShare - 1) * (endMs - startMs);
  }
}

function isUnanswered({ reply, hasFailed }: Run): boolean {
  return reply === null && !hasFailed;
}

/** The texts of an answered call are not counted, because the following call has the same ones. */
function charactersOfRun({ call, reply }: Run): number {
  return reply === null ? charactersOf(call) : charactersOfReply(reply);
}

function charactersOfReply(reply: CodeReply): number {
  if (reply.kind !== 'made') return 0;
  let characters = 0;
  for (const text of reply.value.texts) characters += text.length;
  for (const hole of reply.value.holes) if (hole.kind === 'partial') characters += hole.input.length;
  return characters;
}

function charactersOf({ input, answers }: CodeCall): number {
  let characters = input.length;
  for (const text of answers.values()) characters += text.length;
  return characters;
}

function withdraw(runs: readonly Run[]): void {
  for (const run of runs) if (isUnanswered(run)) run.withdraw();
}

function isSameCall(one: CodeCall, other: CodeCall): boolean {
  if (one.set.id !== other.set.id || one.task !== other.task || one.alias !== other.alias) return false;
  if (one.input !== other.input || one.answers.size !== other.answers.size) return false;
  for (const [request, answer] of one.answers) if (other.answers.get(request) !== answer) return false;
  return true;
}
