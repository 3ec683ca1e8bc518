const pageBits = 13;
const pageSize = 1 << pageBits;

/** Values at numbers. It grows by pages: an array of millions is copied whole whenever it grows. */
export class PagedList<T> {
  /** A page without values is missing. */
  readonly #pages: (T[] | undefined)[] = [];

  /** Undefined where nothing was put. */
  at(index: number): T | undefined {
    return this.#pages[index >>> pageBits]?.[index & (pageSize - 1)];
  }

  set(index: number, value: T): void {
    const number = index >>> pageBits;
    const page = this.#pages[number] ?? [];
    this.#pages[number] = page;
    page[index & (pageSize - 1)] = value;
  }
}
