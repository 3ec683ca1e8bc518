/**
 * Sends a request to all workers and gathers replies until every partition is covered exactly once. Anything less is
 * never handed on: a worker that died, partitions that move and replies that overlap are waited out by asking again.
 */
import { Roster } from '../contract/roster.ts';
import type { MessageBody } from '../store/message-body.ts';
import type { RequestSender } from '../store/messages.ts';
import { type CoveringReply, completeCover } from './coverage.ts';
import { UnavailableError } from './types.ts';
import { ReplyReader, type WorkerReply } from './wire.ts';
import type { WorkerLinks } from './worker-links.ts';
import type { WorkerList } from './worker-list.ts';

const backOffFirstMs = 10;
const backOffMaxMs = 160;
/** When an answer takes this long, somebody may have died: the list is looked at more often. */
const suspicionMs = 200;

export type GatheredReply = CoveringReply & WorkerReply;

export class Scatter {
  readonly #replies = new ReplyReader();
  #scatters = 0;
  #attempts = 0;
  readonly #gathering = new Roster<{ readonly startedMs: number }>();
  readonly #attemptsNow = new Roster<Attempt>();
  #watch: NodeJS.Timeout | null = null;

  constructor(
    private readonly links: WorkerLinks,
    private readonly sender: RequestSender,
    private readonly workers: WorkerList,
    private readonly partitionCount: number,
  ) {
    // A partition that moved away from a worker that is waited for is answered by its new owner only.
    workers.onChange(() => this.#attemptsNow.each((attempt) => attempt.end(null)));
  }

  /** Requests gathered so far. */
  get scatters(): number {
    return this.#scatters;
  }

  /** Times that workers were asked again for one of them. */
  get retries(): number {
    return this.#attempts - this.#scatters;
  }

  /**
   * @param deadlineMs on the clock of `performance.now()`
   * @throws UnavailableError when no complete cover came in time
   */
  async gather(body: MessageBody, deadlineMs: number): Promise<GatheredReply[]> {
    this.#scatters += 1;
    let backOffMs = backOffFirstMs;
    const place = this.#gathering.add({ startedMs: performance.now() });
    this.#watch ??= setInterval(() => this.#suspect(), suspicionMs);
    try {
      for (;;) {
        this.#attempts += 1;
        const replies = await this.#attempt(body, deadlineMs);
        if (replies !== null) return replies;
        if (performance.now() + backOffMs >= deadlineMs)
          throw new UnavailableError('partitions do not answer');
        await Promise.all([this.workers.refresh(), pause(backOffMs)]);
        backOffMs = Math.min(backOffMs * 2, backOffMaxMs);
      }
    } finally {
      this.#gathering.remove(place);
    }
  }

  #suspect(): void {
    if (this.#gathering.size === 0) {
      if (this.#watch !== null) clearInterval(this.#watch);
      this.#watch = null;
      return;
    }
    let oldestMs = Number.POSITIVE_INFINITY;
    this.#gathering.each(({ startedMs }) => {
      oldestMs = Math.min(oldestMs, startedMs);
    });
    if (performance.now() - oldestMs >= suspicionMs) void this.workers.refresh();
  }

  /** Null when this try cannot end in a complete cover any more. */
  #attempt(body: MessageBody, deadlineMs: number): Promise<GatheredReply[] | null> {
    const { ids } = this.workers;
    if (ids.length === 0) return Promise.resolve(null);
    const timeoutMs = Math.max(1, deadlineMs - performance.now());
    return new Promise((resolve) => {
      const attempt = new Attempt(ids.length, this.partitionCount, this.#attemptsNow, resolve);
      for (const workerId of ids) {
        const asked = this.links.ask(workerId, body, timeoutMs) ?? this.sender.ask(workerId, body, timeoutMs);
        void asked.then((reply) => {
          attempt.take(workerId, reply.kind === 'answer' ? this.#replies.read(reply.body) : null);
        });
      }
    });
  }
}

/** One try to have every partition covered, among those that are under way. */
class Attempt {
  readonly #replies: GatheredReply[] = [];
  #place: number | null;

  constructor(
    private outstanding: number,
    private readonly partitionCount: number,
    private readonly underWay: Roster<Attempt>,
    private readonly resolve: (cover: GatheredReply[] | null) => void,
  ) {
    this.#place = underWay.add(this);
  }

  /** @param reply null when there is none, or the worker could not answer */
  take(workerId: string, reply: WorkerReply | null): void {
    this.outstanding -= 1;
    if (reply !== null) this.#replies.push({ workerId, ...reply });
    const cover = completeCover(this.#replies, this.partitionCount);
    if (cover !== null || this.outstanding === 0) this.end(cover);
  }

  end(cover: GatheredReply[] | null): void {
    if (this.#place === null) return;
    this.underWay.remove(this.#place);
    this.#place = null;
    this.resolve(cover);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
