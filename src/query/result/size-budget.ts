import { queryPageUnitsMax } from '../../contract/limits.ts';

/** What a page and its facets may still take, in units of JSON text. */
export class SizeBudget {
  #left = queryPageUnitsMax;

  /** More was taken than there was. */
  get isExceeded(): boolean {
    return this.#left < 0;
  }

  /** @returns false when that is more than there was */
  take(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}
