/**
 * Decides which item represents each value of a query with `distinct`, if several workers have items. Each worker sends its
 * first item of each value, and the first of these represents the value. Then the workers run the query again without the items
 * that lost. So no two answers have a value in common, and they can be merged as for any other query.
 */

import type { EntityRef } from '../../contract/ids.ts';
import { querySliceMs } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { portions } from '../../lib/lists.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { type CheckedQuery, populationsOf } from '../../search/checked-query.ts';
import { Decision, type OpenValue } from '../../search/distinct/decision.ts';
import { distinctValuesMax } from '../../search/distinct/sent-place.ts';
import type { RowPlace } from '../../search/shard-answer.ts';
import { decodeFirsts, decodePlaces } from '../protocol/distinct-answer.ts';
import { distinctTooLarge, RefusedQueryError } from '../protocol/shard-reply.ts';
import type { MessageBody } from '../transport/messages.ts';
import { type AskWorkers, type GatheredReply, onlyAnswer } from './attempt.ts';

/** Values per request. The workers send as many of their places as fit. */
const valuesPerRequest = 10_000;

/** Requests places from all workers. */
type AskPlaces = (rows: readonly EntityRef[]) => Promise<MessageBody[]>;

/** Decides the values whose first items are equal in the part of their places that the workers sent. @throws RefusedQueryError, UnavailableError */
async function settleOpen(decision: Decision, askPlaces: AskPlaces, slice: Slice): Promise<void> {
  for (const values of portions([...decision.open], valuesPerRequest)) {
    const places = new Places(values.flat(), askPlaces);
    for (const value of values) {
      decision.settle(await places.next(value));
      if (slice.isOver) await slice.next();
    }
  }
}

/** The places of items, in order, requested as they are needed. */
class Places {
  #known: (RowPlace | null)[] = [];
  #asked = 0;
  #given = 0;

  constructor(
    private readonly rows: readonly EntityRef[],
    private readonly askPlaces: AskPlaces,
  ) {}

  /** The places of the next items, except those that no longer exist. */
  async next({ length }: OpenValue): Promise<RowPlace[]> {
    while (this.#known.length < this.#given + length) await this.#ask();
    const places = this.#known.slice(this.#given, this.#given + length);
    this.#given += length;
    return places.filter((place) => place !== null);
  }

  async #ask(): Promise<void> {
    const ofWorkers = (await this.askPlaces(this.rows.slice(this.#asked))).map(decodePlaces);
    const count = Math.min(...ofWorkers.map(({ length }) => length));
    assert(count > 0, 'each worker reports at least one position');
    const fresh = Array.from({ length: count }, (_, at) => {
      return ofWorkers.find((places) => places[at] != null)?.[at] ?? null;
    });
    // Drops places that were already returned.
    this.#known = [...this.#known.slice(this.#given), ...fresh];
    this.#given = 0;
    this.#asked += count;
  }
}

/**
 * If items change between the two rounds, both are repeated, at most this often. Under continuous writes the last answers are
 * used as they are.
 */
const triesMax = 3;

/** The replies to a request with a single query. */
type Replies = readonly GatheredReply[];

export interface DecidedQuery {
  readonly query: CheckedQuery;
  /** The replies to it. */
  readonly replies: Replies;
}

/**
 * Returns the given replies if there is nothing to decide: without `distinct`, or if one worker has all partitions.
 * @param first replies to the query
 * @throws RefusedQueryError, UnavailableError
 */
export async function decideDistinct(
  ask: AskWorkers,
  query: CheckedQuery,
  first: Replies,
): Promise<DecidedQuery> {
  const { distinct } = query;
  if (distinct === null || first.length === 1) return { query, replies: first };
  const askQuery = (asked: CheckedQuery) => ask({ kind: 'answer', query: asked, isText: false });
  const askPlaces: AskPlaces = async (rows) => (await ask({ kind: 'places', query, rows })).map(onlyAnswer);
  let sent = first;
  for (let tries = 1; sent.length > 1; tries += 1) {
    const beaten = await beatenItems(query, sent.map(onlyAnswer), askPlaces);
    const asked = { ...query, distinct: { ...distinct, beaten } };
    const replies = await askQuery(asked);
    if (tries === triesMax || isSameState(sent, replies)) return { query: asked, replies };
    sent = await askQuery(query);
  }
  // Meanwhile one worker has all partitions.
  return { query, replies: sent };
}

/** The items that lost, for each population: see `CheckedDistinct`. @throws RefusedQueryError, UnavailableError */
async function beatenItems(
  query: CheckedQuery,
  bodies: readonly MessageBody[],
  askPlaces: AskPlaces,
): Promise<(readonly string[])[]> {
  const slice = new Slice(querySliceMs);
  const beaten: (readonly string[])[] = [];
  let room = distinctValuesMax(query);
  for (const populationIndex of populationsOf(query).keys()) {
    const decision = new Decision(query.sort);
    for (const body of bodies) {
      for (const portion of decodeFirsts(body, populationIndex)) {
        for (const { name, place } of portion) decision.take(name, place);
        if (decision.valueCount > room) throw new RefusedQueryError(distinctTooLarge);
        if (slice.isOver) await slice.next();
      }
    }
    room -= decision.valueCount;
    await settleOpen(decision, askPlaces, slice);
    beaten.push(decision.beaten);
  }
  return beaten;
}

/**
 * True if each partition is unchanged and together with the same others in one worker, because a worker sends only one item of
 * each value.
 */
function isSameState(before: Replies, after: Replies): boolean {
  const states = new Map(before.map((reply) => [nameOf(reply), reply]));
  return after.every((reply) => {
    const known = states.get(nameOf(reply));
    return known !== undefined && isExact(known) && isExact(reply) && isSameCommits(known, reply);
  });
}

/** Identifies a reply by its partitions. */
function nameOf({ covers }: GatheredReply): string {
  return [...covers.keys()].sort((a, b) => a - b).join();
}

/** False if the reply may show a part of a commit. Another reply with the same commit number may show another part. */
function isExact({ covers }: GatheredReply): boolean {
  return [...covers.values()].every((epoch) => epoch > 0);
}

function isSameCommits(a: GatheredReply, b: GatheredReply): boolean {
  return [...a.applied].every(([partition, commit]) => b.applied.get(partition) === commit);
}
