/** The front's side of a query: checks it, scatters it to the workers, merges what they answer. */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { defaultFrontLimits, type FrontLimits } from '../../contract/front-limits.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { invalidNextPageToken } from '../../search/check/pagination.ts';
import { checkQuery, queryIdentity } from '../../search/check/query.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { RowPlace } from '../../search/shard-answer.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import { itemsSubject } from '../../store/derived/subjects.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { StoreUnavailableError } from '../../store/redis/errors.ts';
import type { Store } from '../../store/store.ts';
import { RequestSender } from '../../store/streams/messages.ts';
import type { Progress } from '../../store/visibility/progress.ts';
import { notRun as notRunBeside } from '../protocol/wire.ts';
import {
  type BadOutcome,
  type QueryOptions,
  type QueryOutcome,
  type QueryRequest,
  type QueryResult,
  type QueryService,
  UnavailableError,
} from '../query-service.ts';
import { WorkerLinks } from '../transport/worker-links.ts';
import { resultText } from '../worker/result-text.ts';
import {
  type AnswerableQuery,
  answersIn,
  asksOf,
  type Hearing,
  type RowsAnswer,
  type WholeAnswer,
} from './answer.ts';
import { Scatter } from './scatter.ts';
import { Targets } from './targets.ts';
import { openToken, sealToken, type TokenUse } from './token.ts';
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
  /** Requests run, each with one or several queries. */
  readonly requests: number;
  /** Rounds of asking the workers; a request that needs a second question has two. */
  readonly scatters: number;
  /** Times that workers were asked again. */
  readonly retries: number;
  /** Times that a worker was asked over a link instead of through the streams. */
  readonly linked: number;
  /** Requests that ended without an answer. */
  readonly unavailable: number;
  /** Time that scatters took, all together. */
  readonly scatterMs: number;
}

/** A query that was found good. */
interface PreparedQuery extends AnswerableQuery {
  /** Full schemas whose views are asked for; null for none. */
  readonly aliases: readonly string[] | null;
  /** See `GoodOutcome`. */
  readonly labels: string | null;
  readonly subject: string;
}

type Preparation =
  | { readonly ok: true; readonly queries: readonly PreparedQuery[] }
  /** One of them is bad, so none is run. */
  | { readonly ok: false; readonly outcomes: QueryOutcome[] };

export class ScatterQueryService implements QueryService {
  readonly #limits: Pick<FrontLimits, 'minVersionWaitMs' | 'queryWaitMs'>;
  readonly #store: Store;
  readonly #progress: Progress;
  readonly #targets: Targets;
  readonly #links = new WorkerLinks();
  readonly #sender: RequestSender;
  readonly #workers: WorkerList;
  readonly #scatter: Scatter;
  readonly #hearing: Hearing;
  #requests = 0;
  #unavailable = 0;
  #scatterMs = 0;

  constructor({ store, processId, progress, autoFields, limits }: ScatterQueryServiceOptions) {
    this.#limits = limits ?? defaultFrontLimits;
    this.#store = store;
    this.#progress = progress;
    this.#hearing = { heard: (applied, deadlineMs) => untilHeard(progress, applied, deadlineMs) };
    this.#targets = new Targets(autoFields);
    this.#sender = new RequestSender(store.messages, processId);
    this.#workers = new WorkerList(store, this.#links);
    this.#scatter = new Scatter(this.#links, this.#sender, this.#workers, store.partitions.count);
  }

  /** @throws StoreUnavailableError */
  async start(): Promise<void> {
    await Promise.all([this.#sender.start(), this.#workers.start()]);
  }

  async close(): Promise<void> {
    this.#workers.close();
    this.#links.close();
    await this.#sender.close();
  }

  get counters(): QueryCounters {
    const { scatters, retries } = this.#scatter;
    return {
      requests: this.#requests,
      scatters,
      retries,
      linked: this.#links.asked,
      unavailable: this.#unavailable,
      scatterMs: this.#scatterMs,
    };
  }

  async run(
    principal: ClientPrincipal,
    requests: readonly QueryRequest[],
    options: QueryOptions,
  ): Promise<QueryOutcome[]> {
    this.#requests += 1;
    let startedMs: number | null = null;
    try {
      if (!this.#isVisible(principal, options)) await this.#visible(principal, options);
      const deadlineMs = performance.now() + this.#limits.queryWaitMs;
      if (!this.#progress.ready) await this.#progressKnown(deadlineMs);
      // What this front has seen committed, every shard must have: of two answers the later is never the older state.
      const needs = this.#progress.commits;
      const prepared = await this.#prepareAll(principal, requests, needs);
      if (!prepared.ok) return prepared.outcomes;
      const { queries } = prepared;
      if (queries.length === 0) return [];
      startedMs = performance.now();
      const replies = await this.#scatter.gather({ needs, asks: asksOf(queries) }, deadlineMs);
      const terms = { needs, deadlineMs, hearing: this.#hearing };
      const found = answersIn(replies, this.#scatter, queries, terms);
      const answers = found instanceof Promise ? await found : found;
      return queries.map((one, index) => this.#outcome(one, answers[index]));
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) && !(error instanceof UnavailableError)) throw error;
      this.#unavailable += 1;
      throw error instanceof UnavailableError ? error : new UnavailableError(error.message);
    } finally {
      if (startedMs !== null) this.#scatterMs += performance.now() - startedMs;
    }
  }

  async #prepareAll(
    principal: ClientPrincipal,
    requests: readonly QueryRequest[],
    commits: readonly number[],
  ): Promise<Preparation> {
    const commitSum = commits.reduce((sum, number) => sum + number, 0);
    const all = await Promise.all(requests.map((request) => this.#prepare(principal, request, commitSum)));
    const queries = all.filter((one): one is PreparedQuery => !('ok' in one));
    if (queries.length === all.length) return { ok: true, queries };
    return { ok: false, outcomes: all.map((one) => ('ok' in one ? one : notRun)) };
  }

  #isVisible({ tenant }: ClientPrincipal, { minVersion }: QueryOptions): boolean {
    return minVersion === null || this.#progress.isVisible(tenant.alias, minVersion);
  }

  async #visible({ tenant }: ClientPrincipal, { minVersion }: QueryOptions): Promise<void> {
    if (minVersion === null) return;
    if (await this.#progress.waitFor(tenant.alias, minVersion, this.#limits.minVersionWaitMs)) return;
    throw new UnavailableError('the asked version is not visible yet');
  }

  async #progressKnown(deadlineMs: number): Promise<void> {
    while (!this.#progress.ready) {
      if (performance.now() > deadlineMs)
        throw new UnavailableError('the state of the partitions is not known yet');
      await new Promise((resolve) => setTimeout(resolve, progressPollMs));
    }
  }

  async #prepare(
    principal: ClientPrincipal,
    { target: asked, body, labels, mistakes = [] }: QueryRequest,
    commitSum: number,
  ): Promise<PreparedQuery | BadOutcome> {
    if (mistakes.length > 0) return withMistakes(mistakes, body);
    const resolution = await this.#targets.resolve(principal, asked, commitSum);
    if (!resolution.ok) return { ok: false, status: 404, errors: [resolution.mistake] };
    const { target } = resolution;
    const { schemas } = principal.tenant;
    const checked = checkQuery(body, {
      fields: target.fields,
      isOpen: target.kind === 'auto',
      isSchemaAlias: target.kind === 'index' ? (alias) => schemas.has(alias) : null,
    });
    if (!checked.ok) return { ok: false, status: 400, errors: checked.errors };
    const { query, aliases, nextPageToken } = checked;
    const index = { scope: target.scope, index: target.index };
    const subject = itemsSubject(target.scope, target.index);
    const prepared = { index, query, isText: aliases === null, aliases, labels: labels ?? null, subject };
    if (nextPageToken === null) return prepared;
    const after = openToken(this.#store.secret, useOf(prepared), nextPageToken);
    if (after === null) return { ok: false, status: 400, errors: [invalidNextPageToken] };
    return { ...prepared, query: { ...query, after } };
  }

  #outcome(one: PreparedQuery, answer: WholeAnswer | undefined): QueryOutcome {
    if (answer === undefined) throw new TypeError('a query has no answer');
    if (answer.kind === 'refused') return answer.why === notRunBeside ? notRun : refusedFor(answer.why);
    const { labels, subject } = one;
    const { configuration } = answer;
    const result = answer.kind === 'text' ? answer : this.#result(one, answer);
    return { ok: true, result, labels, subject, configuration };
  }

  #result(one: PreparedQuery, { total, rows, facets: merged }: RowsAnswer): QueryResult {
    const last = rows.length === one.query.pageSize ? rows.at(-1) : undefined;
    const nextPageToken = last === undefined ? null : this.#seal(one, last.place);
    const facets = merged.map(({ name, field, groups, isValid }) => ({ name, field, groups, isValid }));
    if (one.aliases === null) {
      const texts = rows.map(({ text }) => text);
      return { kind: 'text', text: resultText(total, texts, { facets, nextPageToken }) };
    }
    return {
      kind: 'rows',
      totalResults: total,
      rows: rows.map(({ place: { sourceId, originId }, text }) => ({ sourceId, originId, text })),
      facets,
      nextPageToken,
      aliases: one.aliases,
    };
  }

  #seal(one: PreparedQuery, place: RowPlace): string {
    return sealToken(this.#store.secret, useOf(one), place);
  }
}

async function untilHeard(
  progress: Progress,
  applied: ReadonlyMap<number, number>,
  deadlineMs: number,
): Promise<void> {
  if (await progress.waitUntilCommits(applied, deadlineMs - performance.now())) return;
  throw new UnavailableError('what the workers have is not announced yet');
}

function useOf({ index, query }: { readonly index: ScopedIndex; readonly query: CheckedQuery }): TokenUse {
  return { ...index, identity: queryIdentity(query) };
}

/** Of a query whose target is not known: what is wrong whatever fields there are. */
function withMistakes(mistakes: readonly string[], body: Json): BadOutcome {
  const query = isJsonObject(body) ? body : {};
  const checked = checkQuery(query, { fields: new Map(), isOpen: true, isSchemaAlias: null });
  return { ok: false, status: 400, errors: checked.ok ? mistakes : [...mistakes, ...checked.errors] };
}

function refusedFor(why: string): BadOutcome {
  return { ok: false, status: 400, errors: [why] };
}

/** The outcome of a good query beside a bad one. */
const notRun: BadOutcome = { ok: false, status: 400, errors: [] };
