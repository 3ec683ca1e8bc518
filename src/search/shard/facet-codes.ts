import type { Json } from '../../contract/json.ts';
import { type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import type { CodeColumn } from '../columns/code-column.ts';
import { createCodeColumn } from '../columns/create-column.ts';
import { areMixed, dateFormat, firstNotations } from '../facets/facet.ts';
import type { FieldTraits } from '../fields/field-type.ts';
import { parseLong } from '../fields/number-point.ts';

/** The approximate cost of reading a part of a large value, in units of the work budget. */
const unitsPerPart = 20_000;

/**
 * Codes of numbers or dates, only for facets. The first facet on a field creates them; afterwards they are updated with the
 * docs. If the query is aborted, the next one continues. Docs may be added and removed meanwhile.
 *
 * One doc may take long, because its list is long or because tables with millions of docs must grow. Its remaining steps do not
 * belong to a query: the next query or change completes them first.
 */
export class FacetCodes {
  readonly #traits: FieldTraits;
  readonly #column: CodeColumn;
  readonly #dateFormats = new Set<string>();
  /** Codes are maintained for docs below this. */
  #docsEnd = 0;
  /** The remaining steps of the last of them; null: none. */
  #left: Steps<void> | null = null;

  constructor(traits: FieldTraits, capacity: number) {
    this.#traits = traits;
    this.#column = createCodeColumn(traits.shape, capacity, 'plain');
  }

  get bytes(): number {
    return this.#column.bytes;
  }

  *grow(capacity: number): Steps<void> {
    yield* this.#finish();
    yield* this.#column.grow(capacity);
  }

  set(doc: number, value: Json): Steps<void> | null {
    return this.#change(doc, () => this.#column.set(doc, this.#facetValue(value)));
  }

  clear(doc: number): Steps<void> | null {
    return this.#change(doc, () => this.#column.clear(doc));
  }

  /**
   * The codes of all docs.
   * @param docCount all doc ids are below this
   * @param valueAt reads the field's value of a doc (null for none) and adds the cost to the work budget
   */
  *complete(docCount: number, valueAt: (doc: number) => Resumable<Json>): Steps<CodeColumn> {
    for (;;) {
      if (this.#left !== null) yield* this.#finish();
      if (this.#docsEnd >= docCount) break;
      const doc = this.#docsEnd;
      this.#docsEnd += 1;
      const value = valueAt(doc);
      this.#left =
        value instanceof Suspended
          ? this.#setLater(doc, value.steps)
          : this.#column.set(doc, this.#facetValue(value));
      if (workBudget.isOver()) yield;
    }
    this.#docsEnd = Number.MAX_SAFE_INTEGER;
    return this.#column;
  }

  *#setLater(doc: number, reading: Steps<Json>): Steps<void> {
    let read = reading.next();
    for (; !read.done; read = reading.next()) {
      workBudget.units += unitsPerPart;
      if (workBudget.isOver()) yield;
    }
    const left = this.#column.set(doc, this.#facetValue(read.value));
    if (left !== null) yield* left;
  }

  /** Several callers may run this in turns, and each may be aborted. */
  *#finish(): Steps<void> {
    while (this.#left !== null) {
      if (this.#left.next().done) this.#left = null;
      else yield;
    }
  }

  #change(doc: number, change: () => Steps<void> | null): Steps<void> | null {
    if (doc >= this.#docsEnd) return null;
    return this.#left === null ? change() : this.#behindLeft(change);
  }

  *#behindLeft(change: () => Steps<void> | null): Steps<void> {
    yield* this.#finish();
    const left = change();
    if (left !== null) yield* left;
  }

  /** True if there have been dates in several notations. */
  get hasMixedDates(): boolean {
    return areMixed(this.#dateFormats);
  }

  #facetValue(value: Json): Json {
    const items = (Array.isArray(value) ? value : [value]).map((item) => this.#facetItem(item));
    const plain = items.filter((item) => this.#column.accepts(item));
    if (this.#traits.kind === 'date') for (const date of plain) this.#dateFormats.add(dateFormat(date));
    if (!Array.isArray(value)) return plain[0] ?? null;
    // A doc counts once per point in time.
    return this.#traits.kind === 'date' ? firstNotations(plain) : plain;
  }

  /** A long becomes a number if that is exact, otherwise text. 0 and -0 are the same value. Dates remain as sent. */
  #facetItem(value: Json): Json {
    if (this.#traits.kind !== 'long') return value === 0 ? 0 : value;
    const whole = parseLong(value);
    if (whole === null) return null;
    const approx = Number(whole);
    return Number.isSafeInteger(approx) ? approx : whole.toString();
  }
}
