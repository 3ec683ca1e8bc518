/** A call for a tenant's process, and its waiting callers. */
import type { ProgramSet } from '../schemas/build/code-call.ts';
import type { FromSandbox } from './protocol.ts';

export interface Job {
  readonly set: ProgramSet;
  /** Identifies the program among those of its owner. */
  readonly program: string;
  /** JSON text of a call or of a complete message. */
  readonly text: string;
  readonly isMessage: boolean;
  /** All earlier replies are sent before it starts, so that it can be identified if it never ends. */
  readonly flushFirst: boolean;
  /** The program's input, as JSON. */
  readonly input: string;
  /** See `CodeCall`. */
  readonly spentMs: number;
  readonly done: (reply: FromSandbox) => void;
  readonly failed: (error: Error) => void;
  /** Number of processes that ended for an unknown reason while it ran. */
  tries: number;
}

/** Waiting jobs by program, so that a slow program delays the others by at most one build. */
export class WaitingJobs {
  readonly #byProgram = new Map<string, Job[]>();

  get programs(): Iterable<string> {
    return this.#byProgram.keys();
  }

  get isEmpty(): boolean {
    return this.#byProgram.size === 0;
  }

  add(job: Job): void {
    const jobs = this.#byProgram.get(job.program);
    if (jobs === undefined) this.#byProgram.set(job.program, [job]);
    else jobs.push(job);
  }

  putBack(jobs: readonly Job[]): void {
    for (const job of [...jobs].reverse()) {
      const waiting = this.#byProgram.get(job.program);
      if (waiting === undefined) this.#byProgram.set(job.program, [job]);
      else waiting.unshift(job);
    }
  }

  of(program: string): readonly Job[] {
    return this.#byProgram.get(program) ?? [];
  }

  /** Takes the first jobs of a program. */
  take(program: string, count: number): Job[] {
    const jobs = this.#byProgram.get(program) ?? [];
    const taken = jobs.splice(0, count);
    if (jobs.length === 0) this.#byProgram.delete(program);
    return taken;
  }

  remove(job: Job): void {
    const jobs = this.#byProgram.get(job.program) ?? [];
    const at = jobs.indexOf(job);
    if (at >= 0) jobs.splice(at, 1);
    if (jobs.length === 0) this.#byProgram.delete(job.program);
  }

  takeAll(): Job[] {
    const all = [...this.#byProgram.values()].flat();
    this.#byProgram.clear();
    return all;
  }
}
