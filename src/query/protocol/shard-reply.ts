/** A worker's reply to a shard request, and the refusal in place of an answer if a query is too expensive. */
import { distinctCellsMax, queryPageUnitsMax } from '../../contract/limits.ts';
import type { MessageBody } from '../transport/messages.ts';

/**
 * Partition -> epoch of the lease under which a worker answered for it. A copy has no lease: the value is 1, or 0 if its answer
 * can show a part of a commit that it has not completely applied.
 */
export type Coverage = ReadonlyMap<number, number>;

/** The state of a worker's shards when they answered. */
export interface HeldState {
  readonly covers: Coverage;
  /** Partition -> number of the last commit that the answers can show. */
  readonly applied: ReadonlyMap<number, number>;
  /** Digest of the configuration that all shards follow; null while one is being rebuilt. */
  readonly configuration: string | null;
}

export interface ShardReply {
  readonly held: HeldState;
  /** Answers in the order of the queries, each in the format of its question; null if the worker cannot answer now. */
  readonly answers: readonly MessageBody[] | null;
}

const numbersPerPartition = 3;

/** The reply of a worker that cannot answer a request: it covers no partition. */
export const nothingHeld: MessageBody = [[], null, null];

/** Packs the partitions into a flat list: partition, epoch and commit number of each. */
export function encodeReply({ held, answers }: ShardReply): MessageBody {
  const { covers, applied, configuration } = held;
  const partitions: number[] = [];
  for (const [partition, epoch] of covers) partitions.push(partition, epoch, applied.get(partition) ?? 0);
  return [partitions, configuration, answers];
}

/** Null for a reply of another version of Millrace, which can arrive during a rolling update. */
export function decodeReply(body: MessageBody): ShardReply | null {
  if (!Array.isArray(body) || body.length !== 3) return null;
  const [partitions, configuration, answers] = body as [number[], string | null, ShardReply['answers']];
  const covers = new Map<number, number>();
  const applied = new Map<number, number>();
  for (let at = 0; at < partitions.length; at += numbersPerPartition) {
    const partition = partitions[at] ?? 0;
    covers.set(partition, partitions[at + 1] ?? 0);
    applied.set(partition, partitions[at + 2] ?? 0);
  }
  return { held: { covers, applied, configuration }, answers };
}

/** The message is for the client. */
export class RefusedQueryError extends Error {
  override readonly name = 'RefusedQueryError';
}

/** For a page of large items, or one sorted by large values. */
export const pageTooLarge = `The page has more than ${queryPageUnitsMax} bytes: use a smaller pageSize, or sort by shorter values`;
/** For facets of large values, which count towards the page. */
export const facetsTooLarge = `The facets and the page have more than ${queryPageUnitsMax} bytes together: use fewer facets, a smaller size, or fields with shorter values`;
/** The values of `distinct` of all workers are compared in one process. */
export const distinctTooLarge = `distinct: there are more than ${distinctCellsMax} values, each counted once, and once more for each of the first four sort keys: narrow the filters, or sort by fewer fields`;

const refused = false;

/** @param why message for the client */
export function encodeRefusal(why: string): MessageBody {
  return [refused, why];
}

/** @throws RefusedQueryError if the body is a refusal */
export function throwRefusal(body: MessageBody): void {
  if (!Array.isArray(body) || body[0] !== refused) return;
  const [, why] = body as [false, string];
  throw new RefusedQueryError(why);
}
