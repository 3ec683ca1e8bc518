/**
 * The asks of one request, answered one after the other in slices of time, each within a budget of processor time. With
 * the first one that takes more, the request ends.
 */
import { queryBudgetsPerRequest } from '../contract/limits.ts';
import { type Detail, type Phase, pace, type Steps } from '../search/pace.ts';
import type { MessageBody } from '../store/message-body.ts';
import { Cost } from './cost.ts';
import { encodeRefusal, notRun } from './wire.ts';

export class Evaluation {
  readonly #answers: MessageBody[] = [];
  #steps: Steps<MessageBody> | null = null;
  /** Of the ask under way. */
  #cost = new Cost();
  /** Processor time of the ask under way, and of those before it. */
  #spentMs = 0;
  #spentBeforeMs = 0;
  #phase: Phase = 'filters';
  #detail: Detail = null;
  #slices = 0;
  #refused = 0;

  /** @param parts answer one ask each @param budgetMs processor time that each of them has */
  constructor(
    private readonly parts: readonly (() => Steps<MessageBody>)[],
    private readonly budgetMs: number,
  ) {}

  /** Asks that took more than their budget. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Goes on for a slice.
   * @param endsMs on the clock of `performance.now()`
   * @returns all answers; null when there is more to do
   */
  run(endsMs: number): readonly MessageBody[] | null {
    // Most requests end within their first slice, which this would make longer.
    const usedBefore = this.#slices === 0 ? null : process.cpuUsage();
    const startedMs = performance.now();
    let lookedMs = startedMs;
    const look = (): boolean => {
      const nowMs = performance.now();
      this.#cost.add(pace.phase, pace.detail, nowMs - lookedMs);
      lookedMs = nowMs;
      return nowMs >= endsMs;
    };
    pace.clock = look;
    pace.units = 0;
    pace.enter(this.#phase, this.#detail);
    let countedMs = this.#cost.ms;
    for (let part = this.#next(); part !== undefined; part = this.#next()) {
      this.#steps ??= part();
      const { done, value } = this.#steps.next();
      if (done) {
        look();
        this.#spentMs += this.#cost.ms - countedMs;
        countedMs = 0;
        this.#settle(value);
        continue;
      }
      look();
      this.#slices += 1;
      this.#phase = pace.phase;
      this.#detail = pace.detail;
      this.#spentMs += (this.#cost.ms - countedMs) * shareOfTime(usedBefore, lookedMs - startedMs);
      if (this.#spentMs < this.#leftMs) return null;
      this.#refuse();
      return this.#answers;
    }
    return this.#answers;
  }

  /** Lets go of what was done so far. */
  abandon(): void {
    this.#steps?.return(null);
    this.#steps = null;
  }

  #next(): (() => Steps<MessageBody>) | undefined {
    return this.parts[this.#answers.length];
  }

  get #leftMs(): number {
    return Math.min(this.budgetMs, queryBudgetsPerRequest * this.budgetMs - this.#spentBeforeMs);
  }

  #refuse(): void {
    const isRequests = this.#leftMs < this.budgetMs;
    const requestMs = queryBudgetsPerRequest * this.budgetMs;
    this.abandon();
    this.#refused += 1;
    this.#settle(
      encodeRefusal(
        isRequests
          ? `the queries of this request took ${requestMs} ms of processor time in a worker, which is all that one request has; send them in several requests`
          : this.#cost.explain(this.budgetMs),
      ),
    );
    // One bad query makes the whole request a bad one: what the others would answer is for nobody.
    while (this.#answers.length < this.parts.length) this.#settle(encodeRefusal(notRun));
  }

  #settle(answer: MessageBody): void {
    this.#answers.push(answer);
    this.#steps = null;
    this.#spentBeforeMs += this.#spentMs;
    this.#spentMs = 0;
    this.#cost = new Cost();
    this.#phase = 'filters';
    this.#detail = null;
  }
}

/** Of time that passed, what this process was not waiting for a processor. @param before null: not known */
function shareOfTime(before: NodeJS.CpuUsage | null, passedMs: number): number {
  if (before === null || passedMs <= 0) return 1;
  const { user, system } = process.cpuUsage(before);
  return Math.min(1, (user + system) / 1000 / passedMs);
}
