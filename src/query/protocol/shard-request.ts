/** The questions that a front asks the shards of all workers. */
import type { EntityRef } from '../../contract/ids.ts';
import type { CheckedDistinct, CheckedQuery } from '../../search/checked-query.ts';
import type { FacetNeed } from '../../search/facets/merge.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { MessageBody } from '../transport/messages.ts';

export type ShardQuestion =
  /**
   * `isText`: a worker that has all partitions writes the whole result. One that has not answers a search without statistics with
   * those of its items (`needsStats`).
   */
  | { readonly kind: 'answer'; readonly query: CheckedQuery; readonly isText: boolean }
  /** Asks for whole places, of as many items as a worker sends at once: the first query sent less (`distinct-answer.ts`). */
  | { readonly kind: 'places'; readonly query: CheckedQuery; readonly rows: readonly EntityRef[] }
  /** The second question about facets; see `Shard.counts`. */
  | { readonly kind: 'counts'; readonly query: CheckedQuery; readonly facets: readonly FacetNeed[] }
  /** Asks for the fields of rows that came without their texts, as the query wants them. Each shard knows some of them. */
  | { readonly kind: 'texts'; readonly query: CheckedQuery; readonly rows: readonly EntityRef[] };

export interface ShardQuery extends ScopedIndex {
  /** Fields that got another type, as the front knows them; absent: none. A shard that has not followed yet indexes them again first. */
  readonly retypings?: number;
  readonly question: ShardQuestion;
}

export interface ShardRequest {
  /** For each partition, the number of the commit that the worker must have applied before it answers. */
  readonly needs: readonly number[];
  readonly queries: readonly ShardQuery[];
  /** From `formatGroup`: the partitions to answer for; absent: those that the worker owns. */
  readonly group?: string;
}

/** True when it asks further about a query that the workers have answered in part. */
export function asksFurther({ queries }: ShardRequest): boolean {
  return queries.some(
    ({ question: { kind, query } }) =>
      kind !== 'answer' || (query.distinct?.beaten ?? null) !== null || isSecondRound(query),
  );
}

/** True for a search that follows its statistics. A later page has them from its token. */
function isSecondRound({ search, after }: CheckedQuery): boolean {
  return search !== null && search.stats !== null && after === null;
}

/**
 * The queries as JSON, so that lone surrogates of a value survive. MessagePack text is UTF-8. Beside them are the commits and,
 * for each query, the items that are beaten, because they may be very many: these are parsed bit by bit.
 */
export function encodeRequest({ needs, queries }: ShardRequest): MessageBody {
  const beaten = queries.map(({ question: { query } }) => query.distinct?.beaten ?? null);
  if (beaten.every((one) => one === null)) return [needs, JSON.stringify(queries)];
  return [needs, JSON.stringify(queries.map((query) => withBeaten(query, null))), beaten];
}

/** The same request for one group of partitions. @param body from `encodeRequest` */
export function forGroup(body: MessageBody, group: string): MessageBody {
  const [needs = null, text = null, beaten = []] = Array.isArray(body)
    ? (body as readonly MessageBody[])
    : [];
  return [needs, text, beaten, group];
}

/** @throws TypeError, SyntaxError for a request of another version of Millrace: processes are replaced one by one */
export function decodeRequest(body: MessageBody): ShardRequest {
  const [needs, text, lists = [], group] = Array.isArray(body) ? body : [];
  if (!Array.isArray(needs) || typeof text !== 'string' || !Array.isArray(lists)) {
    throw new TypeError('a shard request is a list of commits and a text');
  }
  const asked = JSON.parse(text) as ShardQuery[];
  const beaten = lists as Beaten[];
  const queries =
    beaten.length === 0 ? asked : asked.map((query, at) => withBeaten(query, beaten[at] ?? null));
  return typeof group === 'string' ? { needs, queries, group } : { needs, queries };
}

type Beaten = CheckedDistinct['beaten'];

function withBeaten(asked: ShardQuery, beaten: Beaten): ShardQuery {
  const { question } = asked;
  const { query } = question;
  if (query.distinct === null) return asked;
  return {
    ...asked,
    question: { ...question, query: { ...query, distinct: { ...query.distinct, beaten } } },
  };
}
