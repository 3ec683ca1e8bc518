/** The front's side of a query: checks it, sends it to all workers, and merges their answers. */
import { setTimeout } from 'node:timers/promises';
import type { ClientPrincipal } from '../../config/configuration.ts';
import { defaultFrontLimits, type FrontLimits } from '../../contract/front-limits.ts';
import { assert } from '../../lib/assert.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { StoreUnavailableError } from '../../store/redis/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Progress } from '../../store/visibility/progress.ts';
import {
  type QueryOptions,
  type QueryOutcome,
  type QueryRequest,
  type QueryService,
  UnavailableError,
} from '../query-service.ts';
import { FrontTransport } from '../transport/front-transport.ts';
import { answersTo } from './answers.ts';
import { outcomeOf } from './outcome.ts';
import { QueryChecker } from './query-checker.ts';
import { Scatter } from './scatter.ts';
import { WorkerList } from './worker-list.ts';

const progressPollMs = 20;

export interface ScatterQueryServiceOptions {
  readonly store: Store;
  /** Id of this process, as in its heartbeat. */
  readonly processId: string;
  readonly progress: Progress;
  readonly autoFields: AutoFields;
  /** Absent: the defaults. */
  readonly limits?: Pick<FrontLimits, 'minVersionWaitMs' | 'queryWaitMs'>;
}

export interface QueryCounters {
  /** Rounds of asking the workers. A request that needs a second question has two. */
  readonly scatters: number;
  /** Times that workers were asked again. */
  readonly retries: number;
  /** Times that a worker was asked over a socket instead of through the streams. */
  readonly overSockets: number;
  /** Requests that ended without an answer. */
  readonly unavailable: number;
}

export class ScatterQueryService implements QueryService {
  readonly #limits: Pick<FrontLimits, 'minVersionWaitMs' | 'queryWaitMs'>;
  readonly #secret: Buffer;
  readonly #progress: Progress;
  readonly #checker: QueryChecker;
  readonly #transport: FrontTransport;
  readonly #workers: WorkerList;
  readonly #scatter: Scatter;
  #unavailable = 0;

  constructor({ store, processId, progress, autoFields, limits }: ScatterQueryServiceOptions) {
    this.#limits = limits ?? defaultFrontLimits;
    this.#secret = store.secret;
    this.#progress = progress;
    this.#checker = new QueryChecker(autoFields, store.secret);
    this.#transport = new FrontTransport(store.messages, processId);
    this.#workers = new WorkerList(store);
    this.#scatter = new Scatter(this.#transport, this.#workers, progress, store.partitions.count);
  }

  /** @throws StoreUnavailableError */
  async start(): Promise<void> {
    await Promise.all([this.#transport.start(), this.#workers.start()]);
  }

  async close(): Promise<void> {
    this.#workers.close();
    this.#scatter.close();
    await this.#transport.close();
  }

  get counters(): QueryCounters {
    const { scatters, retries } = this.#scatter;
    const { sentOverSockets } = this.#transport;
    return { scatters, retries, overSockets: sentOverSockets, unavailable: this.#unavailable };
  }

  async run(
    principal: ClientPrincipal,
    requests: readonly QueryRequest[],
    options: QueryOptions,
  ): Promise<QueryOutcome[]> {
    try {
      return await this.#run(principal, requests, options);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) && !(error instanceof UnavailableError)) throw error;
      this.#unavailable += 1;
      throw error instanceof UnavailableError ? error : new UnavailableError(error.message);
    }
  }

  /** @throws StoreUnavailableError, UnavailableError */
  async #run(
    principal: ClientPrincipal,
    requests: readonly QueryRequest[],
    options: QueryOptions,
  ): Promise<QueryOutcome[]> {
    await this.#untilVisible(principal, options);
    const deadlineMs = performance.now() + this.#limits.queryWaitMs;
    await this.#untilProgressIsKnown(deadlineMs);
    const checked = await this.#checker.check(principal, requests, this.#progress.commits);
    const good = checked.filter((one) => one.ok);
    const answers = good.length === 0 ? [] : await answersTo(this.#scatter, good, deadlineMs);
    const answered = answers.values();
    return checked.map((one) => {
      if (!one.ok) return one;
      const { value: answer } = answered.next();
      assert(answer !== undefined, 'each good query has an answer');
      return outcomeOf(one, answer, this.#secret);
    });
  }

  async #untilVisible({ tenant }: ClientPrincipal, { minVersion }: QueryOptions): Promise<void> {
    if (minVersion === null) return;
    if (await this.#progress.waitForVersion(tenant.alias, minVersion, this.#limits.minVersionWaitMs)) return;
    throw new UnavailableError('the asked version is not visible yet');
  }

  async #untilProgressIsKnown(deadlineMs: number): Promise<void> {
    while (!this.#progress.ready) {
      if (performance.now() > deadlineMs)
        throw new UnavailableError('the state of the partitions is not known yet');
      await setTimeout(progressPollMs);
    }
  }
}
