/** The questions that a front asks the shards of all workers. */
import type { EntityRef } from '../../contract/ids.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { FacetNeed } from '../../search/facets/merge.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';

export type ShardQuestion =
  /** `isText`: a worker that has all partitions writes the whole result. */
  | { readonly kind: 'answer'; readonly query: CheckedQuery; readonly isText: boolean }
  /** The second question about facets; see `Shard.counts`. */
  | { readonly kind: 'counts'; readonly query: CheckedQuery; readonly facets: readonly FacetNeed[] }
  /** Asks for the fields of rows that came without their texts, as the query wants them. Each shard knows some of them. */
  | { readonly kind: 'texts'; readonly query: CheckedQuery; readonly rows: readonly EntityRef[] };

export interface ShardQuery extends ScopedIndex {
  readonly question: ShardQuestion;
}

export interface ShardRequest {
  /** For each partition, the number of the commit that the worker must have applied before it answers. */
  readonly needs: readonly number[];
  readonly queries: readonly ShardQuery[];
}

/** The request as JSON, so that lone surrogates of a value survive. MessagePack text is UTF-8. */
export function encodeRequest(request: ShardRequest): MessageBody {
  return JSON.stringify(request);
}

/** @throws TypeError, SyntaxError for a request of another version of Millrace: processes are replaced one by one */
export function decodeRequest(body: MessageBody): ShardRequest {
  if (typeof body !== 'string') throw new TypeError('a shard request is a text');
  return JSON.parse(body) as ShardRequest;
}
