import type { EntityRef } from '../../contract/ids.ts';
import type { SortKey } from '../checked-query.ts';
import { comparePlaces } from '../merge.ts';
import type { PlainValue } from '../packed-values.ts';
import type { RowPlace } from '../shard-answer.ts';
import { RefTexts } from './ref-texts.ts';
import { compareSent, type SentPlace } from './sent-place.ts';

/** A value with several items of which what was sent does not say which is the first. */
export type OpenValue = readonly EntityRef[];

/** Finds which item stands for each value that several shards have: the first of all in the order of the query. */
export class Decision {
  readonly #sort: readonly SortKey[];
  readonly #firsts = new Map<PlainValue, SentPlace>();
  readonly #open = new Map<PlainValue, SentPlace[]>();
  readonly #beaten = new RefTexts();

  constructor(sort: readonly SortKey[]) {
    this.#sort = sort;
  }

  /** Takes a shard's first item of a value. @param name from `nameOfValue` */
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

  /** Values that any shard has. */
  get valueCount(): number {
    return this.#firsts.size;
  }

  /** Values that are decided by `settle`. */
  get open(): Iterable<OpenValue> {
    return this.#open.values();
  }

  /** Decides about an open value. @param places of its items; of one that went away there is none */
  settle(places: readonly RowPlace[]): void {
    const [, ...others] = places.toSorted((a, b) => comparePlaces(this.#sort, a, b));
    for (const place of others) this.#beaten.add(place);
  }

  /** Items that are the first of their value in their shard, and not of all; see `RefTexts`. */
  get beaten(): readonly string[] {
    return this.#beaten.texts;
  }
}
