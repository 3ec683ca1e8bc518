/**
 * Sends a request to all workers and gathers replies until every partition is covered exactly once. Anything less is
 * never handed on: a worker that died, partitions that move and replies that overlap are waited out by asking again.
 */
import { Roster } from '../contract/roster.ts';
import type { MessageBody, RequestSender } from '../store/messages.ts';
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
  /** Ends the attempts that are under way. */
  readonly #ends = new Roster<() => void>();
  #watch: NodeJS.Timeout | null = null;

  constructor(
    private readonly links: WorkerLinks,
    private readonly sender: RequestSender,
    private readonly workers: WorkerList,
    private readonly partitionCount: number,
  ) {
    // A partition that moved away from a worker that is waited for is answered by its new owner only.
    workers.onChange(() => this.#ends.each((end) => end()));
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
    return new Promise((resolve) => {
      const replies: GatheredReply[] = [];
      let outstanding = ids.length;
      let isOver = false;
      const end = (cover: GatheredReply[] | null) => {
        if (isOver) return;
        isOver = true;
        this.#ends.remove(place);
        resolve(cover);
      };
      const place = this.#ends.add(() => end(null));
      for (const workerId of ids) {
        void this.#ask(workerId, body, deadlineMs).then((reply) => {
          outstanding -= 1;
          if (reply !== null) replies.push({ workerId, ...reply });
          const cover = completeCover(replies, this.partitionCount);
          if (cover !== null || outstanding === 0) end(cover);
        });
      }
    });
  }

  async #ask(workerId: string, body: MessageBody, deadlineMs: number): Promise<WorkerReply | null> {
    const timeoutMs = Math.max(1, deadlineMs - performance.now());
    const asked = this.links.ask(workerId, body, timeoutMs) ?? this.sender.ask(workerId, body, timeoutMs);
    const reply = await asked;
    return reply.kind === 'answer' ? this.#replies.read(reply.body) : null;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
