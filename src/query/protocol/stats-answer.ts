/**
 * The first answer of a worker to a search, when other workers have items too: what its items say about the words. The front adds
 * these numbers up and asks again (`front/query-answer.ts`).
 */
import { chain, type Resumable } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery, CheckedSearch } from '../../search/checked-query.ts';
import {
  noStats,
  type PackedStats,
  packStats,
  type SearchStats,
  unpackStats,
} from '../../search/search-stats.ts';
import type { Shard } from '../../search/shard/shard.ts';
import type { MessageBody } from '../transport/message-body.ts';
import { throwRefusal } from './refusal.ts';

/** The search of a query whose answer depends on scores, as long as nobody has said by which statistics; null for others. */
export function searchWithoutStats({ search, pageSize, distinct }: CheckedQuery): CheckedSearch | null {
  const showsScores = pageSize > 0 || distinct !== null;
  return search !== null && search.stats === null && showsScores ? search : null;
}

/** The statistics of the items here, in steps. @param shard null: no item is here */
export function encodeStats(search: CheckedSearch, shard: Shard | null): Resumable<MessageBody> {
  return chain(shard?.stats(search) ?? noStats, packStats);
}

/** @throws RefusedQueryError */
export function decodeStats(body: MessageBody): SearchStats {
  throwRefusal(body);
  return unpackStats(body as PackedStats);
}
