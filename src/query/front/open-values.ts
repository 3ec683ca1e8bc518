/** Decides about the values of `distinct` whose items are the same in what the workers sent of their places. */
import type { EntityRef } from '../../contract/ids.ts';
import { assert } from '../../lib/assert.ts';
import { portions } from '../../lib/portions.ts';
import type { Slice } from '../../lib/slices/slice.ts';
import type { Decision, OpenValue } from '../../search/distinct/decision.ts';
import type { RowPlace } from '../../search/shard-answer.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { decodePlaces } from '../protocol/distinct-answer.ts';

/** Values that are asked for at once. Of their places the workers send as many as fit. */
const valuesPerRequest = 10_000;

/** Asks all workers for places. */
export type AskPlaces = (rows: readonly EntityRef[]) => Promise<MessageBody[]>;

/** @throws RefusedQueryError, UnavailableError */
export async function settleOpen(decision: Decision, askPlaces: AskPlaces, slice: Slice): Promise<void> {
  for (const values of portions([...decision.open], valuesPerRequest)) {
    const places = new Places(values.flat(), askPlaces);
    for (const value of values) {
      decision.settle(await places.next(value));
      if (slice.isOver) await slice.next();
    }
  }
}

/** The places of items, in their order, asked for as they are needed. */
class Places {
  #known: (RowPlace | null)[] = [];
  #asked = 0;
  #given = 0;

  constructor(
    private readonly rows: readonly EntityRef[],
    private readonly askPlaces: AskPlaces,
  ) {}

  /** The places of the next items, but for those that went away. */
  async next({ length }: OpenValue): Promise<RowPlace[]> {
    while (this.#known.length < this.#given + length) await this.#ask();
    const places = this.#known.slice(this.#given, this.#given + length);
    this.#given += length;
    return places.filter((place) => place !== null);
  }

  async #ask(): Promise<void> {
    const ofWorkers = (await this.askPlaces(this.rows.slice(this.#asked))).map(decodePlaces);
    const count = Math.min(...ofWorkers.map(({ length }) => length));
    assert(count > 0, 'workers tell a place at least');
    const fresh = Array.from({ length: count }, (_, at) => {
      return ofWorkers.find((places) => places[at] != null)?.[at] ?? null;
    });
    // What was given is not needed any more.
    this.#known = [...this.#known.slice(this.#given), ...fresh];
    this.#given = 0;
    this.#asked += count;
  }
}
