import { assert } from '../../lib/assert.ts';
import { type Coverage, decodeReply, type HeldState } from '../protocol/shard-reply.ts';
import type { ShardQuestion } from '../protocol/shard-request.ts';
import type { MessageBody, Reply } from '../transport/messages.ts';

/** A worker's reply that is part of a complete cover. */
export interface GatheredReply extends HeldState {
  readonly workerId: string;
  /** One answer for each query of the request. */
  readonly answers: readonly MessageBody[];
}

/** Lists the members one by one, because adding members to a spread object is slow, and each query has replies. */
export function gatheredReply(
  workerId: string,
  { covers, applied, configuration }: HeldState,
  answers: readonly MessageBody[],
): GatheredReply {
  return { workerId, covers, applied, configuration, answers };
}

/** The answer in a reply to a request with a single query. */
export function onlyAnswer({ answers: [body = null] }: GatheredReply): MessageBody {
  return body;
}

/**
 * Asks the workers a further question about the index of a query. Resolves with the replies of a complete cover.
 * @throws UnavailableError
 */
export type AskWorkers = (question: ShardQuestion) => Promise<GatheredReply[]>;

/** One attempt to cover every partition: waits for the replies of all workers that were asked. */
export class Attempt {
  readonly #replies: GatheredReply[] = [];
  #isOver = false;

  constructor(
    private outstanding: number,
    private readonly partitionCount: number,
    /** Called once, with null when this attempt can no longer cover all partitions. */
    private readonly onEnd: (cover: GatheredReply[] | null) => void,
  ) {}

  /** @param reply null for a worker that could not be asked */
  take(workerId: string, reply: Reply | null): void {
    assert(this.outstanding > 0, 'each worker replies once');
    this.outstanding -= 1;
    if (this.#isOver) return;
    const decoded = reply?.kind === 'answer' ? decodeReply(reply.body) : null;
    if (decoded !== null && decoded.answers !== null) {
      this.#replies.push(gatheredReply(workerId, decoded.held, decoded.answers));
    }
    const cover = completeCover(this.#replies, this.partitionCount);
    if (cover !== null || this.outstanding === 0) this.end(cover);
  }

  end(cover: GatheredReply[] | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onEnd(cover);
  }
}

/** A reply, as `completeCover` needs it. */
interface CoveringReply {
  readonly workerId: string;
  readonly covers: Coverage;
}

/**
 * The replies that together cover every partition exactly once, or null if there are none (yet).
 *
 * A reply is used as a whole or not at all, because its rows do not name their partition. If a newer owner also answered for
 * one of its partitions, the reply is ignored: its worker has lost a lease without knowing it yet.
 */
export function completeCover<Reply extends CoveringReply>(
  replies: readonly Reply[],
  partitionCount: number,
): Reply[] | null {
  const [first] = replies;
  if (replies.length === 1 && first?.covers.size === partitionCount) return [first];
  const newestEpochs = new Map<number, number>();
  for (const { covers } of replies) {
    for (const [partition, epoch] of covers) {
      if (epoch > (newestEpochs.get(partition) ?? 0)) newestEpochs.set(partition, epoch);
    }
  }
  if (newestEpochs.size < partitionCount) return null;
  const current = replies.filter(({ covers }) =>
    [...covers].every(([partition, epoch]) => newestEpochs.get(partition) === epoch),
  );
  const useful = current.filter(({ covers }) => covers.size > 0);
  const covered = new Set(useful.flatMap(({ covers }) => [...covers.keys()]));
  const count = useful.reduce((sum, { covers }) => sum + covers.size, 0);
  return covered.size === partitionCount && count === partitionCount ? useful : null;
}
