/**
 * Answers that are being computed: who asks for the same in the meantime waits for the one that is under way, so that a
 * page that just became stale is computed once, however many ask for it.
 */
import type { ClientPrincipal } from '../../config/configuration.ts';
import type { FinishedAnswer } from '../delivery/finished-answer.ts';
import type { AnswerCache } from './answer-cache.ts';

export interface ComputedAnswer {
  readonly answer: FinishedAnswer;
  /** Keys of the subjects of all that was read for it. */
  reads(): readonly string[];
}

interface Settled {
  readonly answer: FinishedAnswer;
  /** Nothing that it read changed since it was begun, as far as this front has heard. */
  readonly isCurrent: boolean;
}

/** A computation under way. */
interface Flight {
  /** In changes seen. */
  readonly beganAt: number;
  readonly settled: Promise<Settled>;
}

/** What may be asked for by many at a time: one of it for each client and query. */
export interface Shared {
  readonly principal: ClientPrincipal;
  /** Text that, with the principal, decides the answer. */
  readonly query: string;
  flight: Flight | null;
}

/**
 * The answer under way, else a new one, which goes into the cache. It is at least as new as what this front had heard
 * of when it was asked for. @throws what `compute` throws
 */
export async function sharedAnswer(
  cache: AnswerCache,
  shared: Shared,
  compute: () => Promise<ComputedAnswer>,
): Promise<FinishedAnswer> {
  const askedAt = cache.changesSeen;
  for (;;) {
    shared.flight ??= { beganAt: cache.changesSeen, settled: settle(cache, shared, compute) };
    const { beganAt, settled } = shared.flight;
    const { answer, isCurrent } = await settled;
    // One that was begun earlier may have read what changed before this caller came.
    if (isCurrent || beganAt >= askedAt) return answer;
  }
}

/** It awaits the computation, so the flight is noted before it is over. */
async function settle(
  cache: AnswerCache,
  shared: Shared,
  compute: () => Promise<ComputedAnswer>,
): Promise<Settled> {
  const computation = cache.begin();
  try {
    const computed = await compute();
    const { answer } = computed;
    const isCurrent = cache.store(computation, shared.principal, shared.query, answer, () =>
      computed.reads(),
    );
    return { answer, isCurrent };
  } finally {
    shared.flight = null;
    cache.end(computation);
  }
}
