const pageBits = 13;
const pageSize = 1 << pageBits;

/** A list that grows by pages: an array of millions is copied whole whenever it grows. */
export class PagedList<T> {
  readonly #pages: T[][] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Undefined behind the end. */
  at(index: number): T | undefined {
    return this.#pages[index >>> pageBits]?.[index & (pageSize - 1)];
  }

  push(value: T): void {
    let page = this.#pages[this.#length >>> pageBits];
    if (page === undefined) {
      page = [];
      this.#pages.push(page);
    }
    page.push(value);
    this.#length += 1;
  }

  /** Replaces a value. The index must be below the length. */
  set(index: number, value: T): void {
    const page = this.#pages[index >>> pageBits];
    if (page !== undefined) page[index & (pageSize - 1)] = value;
  }
}
