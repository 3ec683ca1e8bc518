/** A question from a front to the shards of all workers. */
import type { EntityRef } from '../../contract/ids.ts';
import type { CheckedDistinct, CheckedQuery } from '../../search/checked-query.ts';
import type { FacetNeed } from '../../search/facets/merge.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { MessageBody } from '../transport/messages.ts';

export type ShardQuestion =
  /**
   * `isText`: a worker that has all partitions writes the whole JSON result. Any other worker answers a search without
   * statistics with the statistics of its items (`stats-answer.ts`).
   */
  | { readonly kind: 'answer'; readonly query: CheckedQuery; readonly isText: boolean }
  /**
   * Requests complete places of items, because the first answer had only parts of them (`distinct-answer.ts`). A worker sends
   * as many as fit.
   */
  | { readonly kind: 'places'; readonly query: CheckedQuery; readonly rows: readonly EntityRef[] }
  /** Requests exact counts of facets; see `Shard.counts`. */
  | { readonly kind: 'counts'; readonly query: CheckedQuery; readonly facets: readonly FacetNeed[] }
  /** Requests the fields of rows that were sent without their texts. Each shard has some of the rows. */
  | { readonly kind: 'texts'; readonly query: CheckedQuery; readonly rows: readonly RowRef[] };

/** A row that was sent without its text. */
export interface RowRef extends EntityRef {
  /** From `fieldsDigest`; absent or null if the front or the worker has a version without digests. */
  readonly digest?: string | null;
}

export interface ShardQuery extends ScopedIndex {
  /**
   * `AutoFields.decisions` of the front; absent for none. A shard that knows fewer learns the others first: it may have values
   * whose types were decided by an item of another worker.
   */
  readonly decisions?: number;
  readonly question: ShardQuestion;
}

export interface ShardRequest {
  /** For each partition, the commit number that the worker must have applied before it answers. */
  readonly needs: readonly number[];
  readonly queries: readonly ShardQuery[];
  /** From `formatGroup`: the partitions to answer for; absent for those that the worker owns. */
  readonly group?: string;
}

/** True for a further round of a query that the workers have already answered in part. */
export function asksFurther({ queries }: ShardRequest): boolean {
  return queries.some(
    ({ question: { kind, query } }) =>
      kind !== 'answer' || (query.distinct?.beaten ?? null) !== null || isSecondRound(query),
  );
}

/** True for a search that already has its statistics, except for later pages, which have them from the token. */
function isSecondRound({ search, after }: CheckedQuery): boolean {
  return search !== null && search.stats !== null && after === null;
}

/**
 * The queries are JSON to preserve unpaired surrogates: MessagePack strings are UTF-8. The commits and, for each query, the
 * beaten items are separate: there may be very many, so they are parsed in portions.
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

/** @throws TypeError, SyntaxError for a request of another version of Millrace, which can arrive during a rolling update */
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

/**
 * Partitions whose shards a worker holds together. With shard copies, several workers hold each group, and one of them answers
 * for it (docs/design/ownership.md "Shard copies").
 */
export interface PartitionGroup {
  /** From 0. */
  readonly index: number;
  /** Number of groups of the division. */
  readonly of: number;
}

const groupPattern = /^(\d{1,4})\/(\d{1,4})$/;

/** The name of a group in heartbeats and shard requests: `0/2`. */
export function formatGroup({ index, of }: PartitionGroup): string {
  return `${index}/${of}`;
}

/** Null for a string that is not from `formatGroup`. */
export function parseGroup(text: string): PartitionGroup | null {
  const [, index, of] = groupPattern.exec(text) ?? [];
  const group = { index: Number(index), of: Number(of) };
  return group.index < group.of ? group : null;
}

/** Consecutive partitions. The sizes of groups differ by at most one. */
export function partitionsOf({ index, of }: PartitionGroup, partitionCount: number): number[] {
  const from = Math.floor((index * partitionCount) / of);
  const end = Math.floor(((index + 1) * partitionCount) / of);
  return Array.from({ length: end - from }, (_, at) => from + at);
}
