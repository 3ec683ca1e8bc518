/**
 * Sends a request to all workers and gathers replies until every partition is covered exactly once. Anything less is
 * never handed on: a worker that died, partitions that move and replies that overlap are waited out by asking again.
 */
import { SlotMap } from '../../lib/slot-map.ts';
import type { MessageBody, Reply } from '../../store/streams/message-body.ts';
import type { RequestSender } from '../../store/streams/messages.ts';
import {
  type Moment,
  MomentReader,
  NeedsWriter,
  packRequest,
  type ScatterRequest,
  unpackReply,
  type WorkerAnswers,
} from '../protocol/wire.ts';
import { UnavailableError } from '../query-service.ts';
import type { WorkerLinks } from '../transport/worker-links.ts';
import { type CoveringReply, completeCover } from './coverage.ts';
import type { WorkerList } from './worker-list.ts';

const backOffFirstMs = 10;
const backOffMaxMs = 160;
/** When an answer takes this long, somebody may have died: the list is looked at more often. */
const suspicionMs = 200;

export interface GatheredReply extends CoveringReply, Moment {
  /** One for each query of the request. */
  readonly answers: readonly MessageBody[];
}

/** A request until every partition is covered. */
interface Gathering {
  readonly request: ScatterRequest;
  readonly startedMs: number;
  readonly deadlineMs: number;
  backOffMs: number;
  readonly resolve: (replies: GatheredReply[]) => void;
  readonly reject: (error: unknown) => void;
}

export class Scatter {
  readonly #needs = new NeedsWriter();
  readonly #moments = new MomentReader();
  #scatters = 0;
  #attempts = 0;
  readonly #gatherings = new SlotMap<Gathering>();
  readonly #attemptsNow = new SlotMap<Attempt>();
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
   * One promise for the whole way, and calls below it: this is the way of every query.
   * @param deadlineMs on the clock of `performance.now()`
   * @throws UnavailableError when no complete cover came in time
   */
  gather(request: ScatterRequest, deadlineMs: number): Promise<GatheredReply[]> {
    this.#scatters += 1;
    this.#watch ??= setInterval(() => this.#suspect(), suspicionMs);
    return new Promise((resolve, reject) => {
      const startedMs = performance.now();
      const gathering = { request, startedMs, deadlineMs, backOffMs: backOffFirstMs, resolve, reject };
      this.#attempt(gathering, this.#gatherings.add(gathering));
    });
  }

  /** @param place of the gathering */
  #attempt(gathering: Gathering, place: number): void {
    this.#attempts += 1;
    const { ids } = this.workers;
    const attempt = new Attempt(ids.length, this.partitionCount, this.#attemptsNow, (cover) => {
      if (cover === null) {
        this.#tryAgain(gathering, place).catch((error: unknown) => {
          this.#gatherings.remove(place);
          gathering.reject(error);
        });
        return;
      }
      this.#gatherings.remove(place);
      gathering.resolve(cover);
    });
    const timeoutMs = Math.max(1, gathering.deadlineMs - performance.now());
    for (const workerId of ids) this.#ask(workerId, gathering.request, timeoutMs, attempt);
    if (ids.length === 0) attempt.end(null);
  }

  /** @throws UnavailableError */
  async #tryAgain(gathering: Gathering, place: number): Promise<void> {
    const { backOffMs, deadlineMs } = gathering;
    if (performance.now() + backOffMs >= deadlineMs) throw new UnavailableError('partitions do not answer');
    await Promise.all([this.workers.refresh(), pause(backOffMs)]);
    gathering.backOffMs = Math.min(backOffMs * 2, backOffMaxMs);
    this.#attempt(gathering, place);
  }

  #ask(workerId: string, request: ScatterRequest, timeoutMs: number, attempt: Attempt): void {
    const take = (reply: Reply<WorkerAnswers>) =>
      attempt.take(workerId, reply.kind === 'answer' ? reply.body : null);
    if (this.links.ask(workerId, request, timeoutMs, take)) return;
    const asked = this.sender.ask(workerId, packRequest(request, this.#needs), timeoutMs);
    void asked.then((reply) => {
      attempt.take(workerId, reply.kind === 'answer' ? unpackReply(reply.body, this.#moments) : null);
    });
  }

  #suspect(): void {
    if (this.#gatherings.size === 0) {
      if (this.#watch !== null) clearInterval(this.#watch);
      this.#watch = null;
      return;
    }
    let oldestMs = Number.POSITIVE_INFINITY;
    this.#gatherings.each(({ startedMs }) => {
      oldestMs = Math.min(oldestMs, startedMs);
    });
    if (performance.now() - oldestMs >= suspicionMs) void this.workers.refresh();
  }
}

/** One try to have every partition covered, among those that are under way. */
class Attempt {
  readonly #replies: GatheredReply[] = [];
  #place: number | null;

  constructor(
    private outstanding: number,
    private readonly partitionCount: number,
    private readonly underWay: SlotMap<Attempt>,
    /** Called once, with null when this try cannot end in a complete cover any more. */
    private readonly onEnd: (cover: GatheredReply[] | null) => void,
  ) {
    this.#place = underWay.add(this);
  }

  /** @param said null when there is no reply */
  take(workerId: string, said: WorkerAnswers | null): void {
    this.outstanding -= 1;
    if (said !== null && said.answers !== null) {
      const { covers, applied, configuration } = said.moment;
      this.#replies.push({ workerId, covers, applied, configuration, answers: said.answers });
    }
    const cover = completeCover(this.#replies, this.partitionCount);
    if (cover !== null || this.outstanding === 0) this.end(cover);
  }

  end(cover: GatheredReply[] | null): void {
    if (this.#place === null) return;
    this.underWay.remove(this.#place);
    this.#place = null;
    this.onEnd(cover);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
