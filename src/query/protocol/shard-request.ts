/** What a front asks the shards of all workers. */
import type { EntityRef } from '../../contract/ids.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { FacetNeed } from '../../search/facets/merge.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';

export type ShardQuestion =
  /** `isText`: a worker that has all partitions writes the whole result. */
  | { readonly kind: 'answer'; readonly query: CheckedQuery; readonly isText: boolean }
  /** The second question of facets, as `Shard.counts` has it. */
  | { readonly kind: 'counts'; readonly query: CheckedQuery; readonly facets: readonly FacetNeed[] }
  /** Fields of rows that came without their texts; the shard knows some of them. */
  | { readonly kind: 'texts'; readonly rows: readonly EntityRef[] };

export interface ShardQuery extends ScopedIndex {
  readonly question: ShardQuestion;
}

export interface ShardRequest {
  /** By partition, the commit number that it must have applied before it answers. */
  readonly needs: readonly number[];
  readonly queries: readonly ShardQuery[];
}

/** As JSON, so that lone surrogates of a value survive: MessagePack text is UTF-8. */
export function encodeRequest(request: ShardRequest): MessageBody {
  return JSON.stringify(request);
}

/** @throws TypeError, SyntaxError for a request of another version, which can come while processes are replaced one by one */
export function decodeRequest(body: MessageBody): ShardRequest {
  if (typeof body !== 'string') throw new TypeError('a shard request is a text');
  return JSON.parse(body) as ShardRequest;
}
