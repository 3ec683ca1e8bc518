import type { DecidedValue, SortKey } from '../checked-query.ts';
import type { PlainValue } from '../columns/value-dictionary.ts';
import { comparePlaces } from '../merge.ts';
import type { RowPlace } from '../shard-answer.ts';

/** Finds which item stands for each value that several shards have: the first of all in the order of the query. */
export class Decision {
  readonly #sort: readonly SortKey[];
  readonly #firsts = new Map<PlainValue, RowPlace>();
  readonly #contested = new Set<PlainValue>();

  constructor(sort: readonly SortKey[]) {
    this.#sort = sort;
  }

  /** Takes the place of a shard's first item of a value. */
  take(value: PlainValue, place: RowPlace): void {
    const known = this.#firsts.get(value);
    if (known !== undefined) this.#contested.add(value);
    if (known === undefined || comparePlaces(this.#sort, place, known) < 0) this.#firsts.set(value, place);
  }

  get decided(): DecidedValue[] {
    return Array.from(this.#contested, (value) => {
      const { originId = '', sourceId = '' } = this.#firsts.get(value) ?? {};
      return { value, originId, sourceId };
    });
  }
}
