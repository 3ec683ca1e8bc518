import type { Json } from '../../contract/json.ts';
import { atOnce, pace, type Steps } from '../../lib/pace.ts';
import type { CodeColumn } from '../columns/code-column.ts';
import { createCodeColumn } from '../columns/create-column.ts';
import { parseLong } from '../columns/number-point.ts';
import { firstWritings, Writings } from '../facets/moments.ts';
import type { FieldTraits } from '../fields/field-type.ts';

/**
 * Codes of numbers or dates, for facets alone. The first facet on a field makes them. From then on they follow the
 * field's docs. If the query is interrupted, the next one goes on with the codes that are made. Docs may come and go
 * meanwhile.
 */
export class FacetCodes {
  readonly #traits: FieldTraits;
  readonly #column: CodeColumn;
  readonly #writings = new Writings();
  /** Docs below this are followed. */
  #docsEnd = 0;

  constructor(traits: FieldTraits, capacity: number) {
    this.#traits = traits;
    this.#column = createCodeColumn(traits.shape, capacity, 'plain');
  }

  get bytes(): number {
    return this.#column.bytes;
  }

  grow(capacity: number): Steps<void> {
    return this.#column.grow(capacity);
  }

  set(doc: number, value: Json): Steps<void> | null {
    return doc < this.#docsEnd ? this.#column.set(doc, this.#facetValue(value)) : null;
  }

  clear(doc: number): Steps<void> | null {
    return doc < this.#docsEnd ? this.#column.clear(doc) : null;
  }

  /**
   * The codes of all docs.
   * @param docCount all doc ids are below this
   * @param valueAt reads the field's value of a doc, null for none, and adds its cost to the pace
   */
  *complete(docCount: number, valueAt: (doc: number) => Json): Steps<CodeColumn> {
    while (this.#docsEnd < docCount) {
      const doc = this.#docsEnd;
      this.#docsEnd += 1;
      const value = this.#facetValue(valueAt(doc));
      // The pause comes only when the doc is whole. A query that is given up in the middle of a list would leave half
      // of it behind.
      const isOver = pace.isOver();
      const left = this.#column.set(doc, value);
      if (left !== null) atOnce(left);
      if (isOver || pace.isOver()) yield;
    }
    this.#docsEnd = Number.MAX_SAFE_INTEGER;
    return this.#column;
  }

  /** Docs have had dates that are written in several ways. */
  get hasMixedDates(): boolean {
    return this.#writings.areMixed;
  }

  #facetValue(value: Json): Json {
    const items = (Array.isArray(value) ? value : [value]).map((item) => this.#facetItem(item));
    const plain = items.filter((item) => this.#column.accepts(item));
    if (this.#traits.kind === 'date') for (const date of plain) this.#writings.note(date);
    if (!Array.isArray(value)) return plain[0] ?? null;
    // A doc counts once for a moment.
    return this.#traits.kind === 'date' ? firstWritings(plain) : plain;
  }

  /** A long is a number if the number is exact, else text. 0 and -0 are one value. Dates stand as they were sent. */
  #facetItem(value: Json): Json {
    if (this.#traits.kind !== 'long') return value === 0 ? 0 : value;
    const whole = parseLong(value);
    if (whole === null) return null;
    const approx = Number(whole);
    return Number.isSafeInteger(approx) ? approx : whole.toString();
  }
}
