import type { Json } from '../../contract/json.ts';
import { type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import type { CodeColumn } from '../columns/code-column.ts';
import { createCodeColumn } from '../columns/create-column.ts';
import { DateFormats, firstNotations } from '../facets/moments.ts';
import type { FieldTraits } from '../fields/field-type.ts';
import { parseLong } from '../fields/number-point.ts';

/** About what it costs to read a part of a large value, in units of the work budget. */
const unitsPerPart = 20_000;

/**
 * Codes of numbers or dates, for facets alone. The first facet on a field makes them. From then on they follow the
 * field's docs. If the query is interrupted, the next one continues with the codes that are made. Docs may come and go
 * meanwhile.
 *
 * One doc may take long: its list is long, or the tables double that millions of others are in. What is left of it belongs
 * to no query. Whoever comes next does it first, another query or a change.
 */
export class FacetCodes {
  readonly #traits: FieldTraits;
  readonly #column: CodeColumn;
  readonly #dateFormats = new DateFormats();
  /** Docs below this are followed. */
  #docsEnd = 0;
  /** The steps that are left of the last one of them; null: none. */
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
   * @param valueAt reads the field's value of a doc, null for none, and adds its cost to the pace
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

  /** Several may be at it in turns, and any of them may be given up. */
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

  /** Docs have had dates that are written in several ways. */
  get hasMixedDates(): boolean {
    return this.#dateFormats.areMixed;
  }

  #facetValue(value: Json): Json {
    const items = (Array.isArray(value) ? value : [value]).map((item) => this.#facetItem(item));
    const plain = items.filter((item) => this.#column.accepts(item));
    if (this.#traits.kind === 'date') for (const date of plain) this.#dateFormats.add(date);
    if (!Array.isArray(value)) return plain[0] ?? null;
    // A doc counts once for a moment.
    return this.#traits.kind === 'date' ? firstNotations(plain) : plain;
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
