/** Runs queries in the front: checks them, sends them to the workers, and merges the answers. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { ClientPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { defaultFrontLimits, type FrontLimits } from '../../contract/front-limits.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { assert } from '../../lib/assert.ts';
import { checkQuery, invalidNextPageToken } from '../../search/check/query.ts';
import { type CheckedQuery, isBoundToNow } from '../../search/checked-query.ts';
import type { RowPlace } from '../../search/shard-answer.ts';
import { itemsSubject } from '../../store/derived/subjects.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { Store } from '../../store/store.ts';
import type { Progress } from '../../store/visibility/progress.ts';
import type { Version } from '../../store/visibility/version.ts';
import { isPlaceAmong, openToken, pinnedQuery, pinOf, sealToken, tokenUse } from '../next-page-token.ts';
import type { ShardQuery } from '../protocol/shard-request.ts';
import {
  type BadOutcome,
  type QueryOptions,
  type QueryOutcome,
  type QueryRequest,
  type QueryResult,
  type QueryService,
  UnavailableError,
} from '../query-service.ts';
import { resultText } from '../result/result-text.ts';
import { FrontTransport } from '../transport/front-transport.ts';
import { type GatheredReply, gatheredReply } from './attempt.ts';
import type { MergedRows } from './merged-rows.ts';
import { type GoodQuery, mergedAnswer, type QueryAnswer, wholeAnswer } from './query-answer.ts';
import { type TargetResolution, Targets } from './query-targets.ts';
import { Scatter } from './scatter.ts';
import { WorkerList } from './worker-list.ts';

const progressPollMs = 20;

type CheckedRequest = ({ readonly ok: true } & GoodQuery) | BadOutcome;

export interface ScatterQueryServiceOptions {
  readonly store: Store;
  readonly progress: Progress;
  readonly autoFields: AutoFields;
  /** The defaults if absent. */
  readonly limits?: Pick<FrontLimits, 'minVersionWaitMs' | 'queryWaitMs'>;
}

export interface QueryCounters {
  /** Number of rounds of requests to the workers. Some queries need several. */
  readonly scatters: number;
  /** Number of repeated rounds. */
  readonly retries: number;
  /** Number of requests that failed without an answer. */
  readonly unavailable: number;
}

export class ScatterQueryService implements QueryService {
  readonly #limits: Pick<FrontLimits, 'minVersionWaitMs' | 'queryWaitMs'>;
  readonly #secret: KeyObject;
  readonly #progress: Progress;
  readonly #targets: Targets;
  readonly #transport: FrontTransport;
  readonly #workers: WorkerList;
  readonly #scatter: Scatter;
  #unavailable = 0;

  constructor({ store, progress, autoFields, limits }: ScatterQueryServiceOptions) {
    this.#limits = limits ?? defaultFrontLimits;
    this.#secret = createSecretKey(store.secret);
    this.#progress = progress;
    this.#targets = new Targets(autoFields);
    this.#transport = new FrontTransport(store.secret);
    this.#workers = new WorkerList(store);
    this.#workers.onChange(() => this.#transport.follow(this.#workers.workers));
    this.#scatter = new Scatter(this.#transport, this.#workers, progress, store.partitions.count);
  }

  /** @throws StoreUnavailableError */
  async start(): Promise<void> {
    await this.#workers.start();
  }

  async close(): Promise<void> {
    this.#workers.close();
    this.#scatter.close();
    this.#transport.close();
  }

  /** The workers that this front cannot reach, with reasons. */
  get unreachableWorkers(): readonly string[] {
    return this.#transport.unreachable;
  }

  get counters(): QueryCounters {
    const { scatters, retries } = this.#scatter;
    return { scatters, retries, unavailable: this.#unavailable };
  }

  async run(
    principal: ClientPrincipal,
    requests: readonly QueryRequest[],
    { minVersion }: QueryOptions,
  ): Promise<QueryOutcome[]> {
    try {
      if (minVersion !== null) await this.#untilVisible(principal, minVersion);
      const deadlineMs = performance.now() + this.#limits.queryWaitMs;
      if (!this.#progress.ready) await this.#untilProgressIsKnown(deadlineMs);
      const checked = await Promise.all(requests.map(async (one) => this.#checked(principal, one)));
      return await this.#outcomesOf(checked, deadlineMs);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) && !(error instanceof UnavailableError)) throw error;
      this.#unavailable += 1;
      throw error instanceof UnavailableError ? error : new UnavailableError(error.message);
    }
  }

  /** Finds the index of a query and checks the query against its fields. A returned promise may reject with StoreUnavailableError. */
  #checked(principal: ClientPrincipal, request: QueryRequest): CheckedRequest | Promise<CheckedRequest> {
    const { target, body, errors = [] } = request;
    if (errors.length > 0) return withErrors(errors, body);
    const resolution = this.#targets.resolve(principal, target, this.#progress.commits);
    return resolution instanceof Promise
      ? resolution.then((resolved) => this.#checkedIn(resolved, body))
      : this.#checkedIn(resolution, body);
  }

  #checkedIn(resolution: TargetResolution, body: Json): CheckedRequest {
    if (!resolution.ok) return resolution;
    const { target } = resolution;
    const checked = checkQuery(body, target);
    if (!checked.ok) return { ok: false, status: 400, errors: checked.errors };
    const { query, aliases, nextPageToken } = checked;
    const { scope, index: name, decisions } = target;
    const index = { scope, index: name };
    const good = (asked: CheckedQuery): CheckedRequest => {
      const isText = aliases === null;
      const subject = itemsSubject(scope, name);
      return { ok: true, index, query: asked, isText, decisions, aliases, subject };
    };
    if (nextPageToken === null) return good(withCurrentTime(query));
    const page = openToken(this.#secret, tokenUse(index, query), nextPageToken);
    // A token from a version that did not pin statistics cannot continue a search.
    const isPinned = query.search === null || page?.pin != null;
    return page === null || !isPinned || !isPlaceAmong(target, query, page)
      ? { ok: false, status: 400, errors: [invalidNextPageToken] }
      : good(pinnedQuery(query, page));
  }

  /** @throws UnavailableError */
  async #outcomesOf(checked: readonly CheckedRequest[], deadlineMs: number): Promise<QueryOutcome[]> {
    const good = checked.filter((one) => one.ok);
    const answers = good.length === 0 ? [] : await this.#answersTo(good, deadlineMs);
    const answered = answers.values();
    return checked.map((one) => {
      if (!one.ok) return one;
      const { value: answer } = answered.next();
      assert(answer !== undefined, 'each good query has an answer');
      return outcomeOf(one, answer, this.#secret);
    });
  }

  /** Returns answers in the order of the queries. @throws UnavailableError */
  async #answersTo(queries: readonly GoodQuery[], deadlineMs: number): Promise<QueryAnswer[]> {
    const replies = await this.#scatter.gather(queries.map(shardQueryOf), deadlineMs);
    return await Promise.all(
      queries.map(
        async (one, at) =>
          wholeAnswer(replies, at) ?? (await this.#mergedAnswer(one, repliesTo(replies, at), deadlineMs)),
      ),
    );
  }

  /** Retries if the page has changed between the rounds. @throws UnavailableError */
  async #mergedAnswer(
    query: GoodQuery,
    replies: readonly GatheredReply[],
    deadlineMs: number,
  ): Promise<QueryAnswer> {
    const answer = await mergedAnswer(this.#scatter, query, replies, deadlineMs);
    if (answer !== null) return answer;
    const again = await this.#scatter.gather([shardQueryOf(query)], deadlineMs);
    return wholeAnswer(again, 0) ?? (await this.#mergedAnswer(query, again, deadlineMs));
  }

  async #untilVisible({ tenant }: ClientPrincipal, minVersion: Version): Promise<void> {
    if (await this.#progress.waitForVersion(tenant.alias, minVersion, this.#limits.minVersionWaitMs)) return;
    this.#unavailable += 1;
    throw new ProblemError(problems.versionNotReached);
  }

  async #untilProgressIsKnown(deadlineMs: number): Promise<void> {
    while (!this.#progress.ready) {
      if (performance.now() > deadlineMs)
        throw new UnavailableError('the state of the partitions is not known yet');
      await setTimeout(progressPollMs);
    }
  }
}

/** Sets the time of the request, which a boost by date without an origin uses. */
function withCurrentTime(query: CheckedQuery): CheckedQuery {
  const { search } = query;
  return search !== null && isBoundToNow(search)
    ? { ...query, search: { ...search, nowMs: Date.now() } }
    : query;
}

/** The errors of the target, and those of the body that do not depend on the fields. */
function withErrors(errors: readonly string[], body: Json): BadOutcome {
  const query = isJsonObject(body) ? body : {};
  const checked = checkQuery(query, { fields: new Map(), isOpen: true, isSchemaAlias: null });
  return { ok: false, status: 400, errors: checked.ok ? errors : [...errors, ...checked.errors] };
}

function shardQueryOf({ index: { scope, index }, query, isText, decisions }: GoodQuery): ShardQuery {
  const question = { kind: 'answer', query, isText } as const;
  return { scope, index, ...(decisions > 0 && { decisions }), question };
}

/** The replies to a single query of the request. */
function repliesTo(replies: readonly GatheredReply[], at: number): GatheredReply[] {
  return replies.map((reply) => gatheredReply(reply.workerId, reply, reply.answers.slice(at, at + 1)));
}

/** @param secret signs tokens */
function outcomeOf(query: GoodQuery, answer: QueryAnswer, secret: KeyObject): QueryOutcome {
  if (answer.kind === 'refused') return { ok: false, status: 400, errors: [answer.why] };
  const { subject } = query;
  const { configuration } = answer;
  const result: QueryResult =
    answer.kind === 'text' ? { kind: 'text', text: answer.text } : resultOf(query, answer, secret);
  const { search } = query.query;
  return { ok: true, result, subject, configuration, dependsOnTime: search !== null && isBoundToNow(search) };
}

function resultOf(
  { index, query, aliases }: GoodQuery,
  { total, rows, facets: merged, stats }: MergedRows,
  secret: KeyObject,
): QueryResult {
  const last = rows.length === query.pageSize ? rows.at(-1) : undefined;
  const seal = (place: RowPlace) => sealToken(secret, tokenUse(index, query), place, pinOf(query, stats));
  const nextPageToken = last === undefined ? null : seal(last.place);
  const facets = merged.map(({ name, field, groups, isValid, stats }) => {
    return { name, field, groups, isValid, ...(stats && { stats }) };
  });
  if (aliases === null) {
    const texts = rows.map(({ text }) => [text]);
    return { kind: 'text', text: resultText(total, texts, { facets, nextPageToken }) };
  }
  return {
    kind: 'rows',
    totalResults: total,
    rows: rows.map(({ place: { sourceId, originId }, text }) => ({ sourceId, originId, text })),
    facets,
    nextPageToken,
    aliases,
  };
}
