/**
 * Determines the item that represents each value of `distinct` if several shards have items with it. The front decides, and
 * sends the shards which of their items are beaten.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { SortKey } from '../checked-query.ts';
import { comparePlaces } from '../merge-answers.ts';
import type { PlainValue } from '../packed-values.ts';
import type { RowPlace } from '../shard-answer.ts';
import { compareSent, type SentPlace } from './sent-place.ts';

/** A value with several items whose order cannot be determined from the sent data. */
export type OpenValue = readonly EntityRef[];

/** Finds the item that represents each value over all shards: the first in the order of the query. */
export class Decision {
  readonly #sort: readonly SortKey[];
  readonly #firsts = new Map<PlainValue, SentPlace>();
  readonly #open = new Map<PlainValue, SentPlace[]>();
  readonly #beaten = new RefTexts();

  constructor(sort: readonly SortKey[]) {
    this.#sort = sort;
  }

  /** Adds a shard's first item with a value. @param name from `nameOfValue` */
  take(name: PlainValue, place: SentPlace): void {
    const open = this.#open.get(name);
    if (open !== undefined) {
      open.push(place);
      return;
    }
    const known = this.#firsts.get(name);
    const compared = known === undefined ? -1 : compareSent(this.#sort, place, known);
    if (known !== undefined && compared === null) this.#open.set(name, [known, place]);
    else if (known !== undefined) this.#beaten.add(compared !== null && compared < 0 ? known : place);
    if (compared !== null && compared < 0) this.#firsts.set(name, place);
  }

  /** Number of values over all shards. */
  get valueCount(): number {
    return this.#firsts.size;
  }

  /** Values that are decided by `settle`. */
  get open(): Iterable<OpenValue> {
    return this.#open.values();
  }

  /** Decides an open value. @param places positions of its items; without removed ones */
  settle(places: readonly RowPlace[]): void {
    const [, ...others] = places.toSorted((a, b) => comparePlaces(this.#sort, a, b));
    for (const place of others) this.#beaten.add(place);
  }

  /** Items that are the first with their value in their shard but not overall; for `eachRef`. */
  get beaten(): readonly string[] {
    return this.#beaten.texts;
  }
}

/** Items per text. */
const refsPerText = 1000;
/** The cost of parsing a character, in units of the work budget. */
const unitsPerCharacter = 2;

/** Many references to items as JSON texts, which are parsed one at a time to avoid long pauses. */
class RefTexts {
  readonly #texts: string[] = [];
  readonly #bySource = new Map<string, string[]>();

  add({ sourceId, originId }: EntityRef): void {
    const originIds = this.#bySource.get(sourceId) ?? [];
    this.#bySource.set(sourceId, originIds);
    originIds.push(originId);
    if (originIds.length < refsPerText) return;
    this.#end(sourceId, originIds);
    this.#bySource.delete(sourceId);
  }

  get texts(): readonly string[] {
    const rest = new RefTexts();
    for (const [sourceId, originIds] of this.#bySource) rest.#end(sourceId, originIds);
    return [...this.#texts, ...rest.#texts];
  }

  #end(sourceId: string, originIds: readonly string[]): void {
    this.#texts.push(JSON.stringify([sourceId, ...originIds]));
  }
}

/** Calls `take` with the items of `beaten`, in steps. */
export function* eachRef(
  texts: readonly string[],
  take: (sourceId: string, originId: string) => void,
): Steps<void> {
  for (const text of texts) {
    const [sourceId = '', ...originIds] = JSON.parse(text) as string[];
    workBudget.units += unitsPerCharacter * text.length;
    for (const originId of originIds) {
      take(sourceId, originId);
      if (workBudget.isOver()) yield;
    }
  }
}
