import { queryPageUnitsMax } from '../../contract/limits.ts';

/** Counts how much a page and its facets may still take, in UTF-16 units of JSON text. */
export class SizeBudget {
  #left = queryPageUnitsMax;

  /** More was taken than there was. */
  get isExceeded(): boolean {
    return this.#left < 0;
  }

  /** @returns false when the budget is exceeded */
  take(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}
