/**
 * Finds which item stands for each value of a query with `distinct`, when several workers have items. Each worker tells
 * the first of its items of each value. The first of them all stands for the value. Then the workers are asked again,
 * with the items that stand for the values that several of them have. So no two of their answers have a value in common,
 * and they add up like those of any query.
 */
import { setImmediate } from 'node:timers/promises';
import { distinctUnitsMax } from '../../contract/limits.ts';
import type { CheckedQuery, DecidedValue } from '../../search/checked-query.ts';
import { Decision } from '../../search/distinct/decision.ts';
import { populationsOf } from '../../search/populations.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { decodeFirsts, firstsLength } from '../protocol/distinct-answer.ts';
import { distinctTooLarge, RefusedQueryError } from '../protocol/refusal.ts';
import type { GatheredReply } from './attempt.ts';
import type { Scatter } from './scatter.ts';

/** Other requests have their turns after this long. */
const sliceMs = 5;
/**
 * When items change between the two questions, both are asked again, this often at most. Under writes without end the
 * last answers are taken as they are.
 */
const triesMax = 3;

/** The replies to one query, which is the only one of its request. */
type Replies = readonly GatheredReply[];

export interface DecidedQuery {
  readonly query: CheckedQuery;
  readonly replies: Replies;
}

/**
 * Gives back the replies themselves when nothing has to be decided: without `distinct`, and when one worker has everything.
 * @param first replies to the query
 * @param deadlineMs on the clock of `performance.now()`
 * @throws RefusedQueryError, UnavailableError
 */
export async function decideDistinct(
  scatter: Pick<Scatter, 'gather'>,
  { index, query }: { readonly index: ScopedIndex; readonly query: CheckedQuery },
  first: Replies,
  deadlineMs: number,
): Promise<DecidedQuery> {
  const { distinct } = query;
  if (distinct === null || first.length === 1) return { query, replies: first };
  const ask = (asked: CheckedQuery) =>
    scatter.gather([{ ...index, question: { kind: 'answer', query: asked, isText: false } }], deadlineMs);
  let told = first;
  for (let tries = 1; told.length > 1; tries += 1) {
    const decided = await decidedValues(
      query,
      told.map(({ answers: [body = null] }) => body),
    );
    const asked = { ...query, distinct: { ...distinct, decided } };
    const replies = await ask(asked);
    if (tries === triesMax || isSameState(told, replies)) return { query: asked, replies };
    told = await ask(query);
  }
  // By now one worker has everything.
  return { query, replies: told };
}

/** The items that stand for the values that several workers have, for each population. @throws RefusedQueryError */
async function decidedValues(query: CheckedQuery, bodies: readonly MessageBody[]): Promise<DecidedValue[][]> {
  const units = bodies.reduce<number>((sum, body) => sum + firstsLength(body), 0);
  if (units > distinctUnitsMax) throw new RefusedQueryError(distinctTooLarge);
  const decided: DecidedValue[][] = [];
  for (const at of populationsOf(query).keys()) decided.push(await decidedOf(query, bodies, at));
  return decided;
}

async function decidedOf(
  { sort }: CheckedQuery,
  bodies: readonly MessageBody[],
  populationIndex: number,
): Promise<DecidedValue[]> {
  const decision = new Decision(sort);
  let endsMs = performance.now() + sliceMs;
  for (const body of bodies) {
    for (const portion of decodeFirsts(body, populationIndex)) {
      for (const { value, place } of portion) decision.take(value, place);
      if (performance.now() < endsMs) continue;
      await setImmediate();
      endsMs = performance.now() + sliceMs;
    }
  }
  return decision.decided;
}

/** True when each partition is as it was. */
function isSameState(before: Replies, after: Replies): boolean {
  const applied = new Map(before.flatMap((reply) => [...reply.applied]));
  return after.every((reply) =>
    [...reply.applied].every(([partition, commit]) => applied.get(partition) === commit),
  );
}
