import type { Json } from '../../contract/json.ts';
import { CodeColumn } from '../columns/code-column.ts';
import type { Column } from '../columns/column.ts';
import { createCodeColumn, createColumn } from '../columns/create-column.ts';
import { ListCodes } from '../columns/list-codes.ts';
import { parseLong } from '../columns/number-point.ts';
import type { FieldType } from '../fields/field-type.ts';
import { type FieldTraits, traitsOf } from '../fields/field-type.ts';
import { type Maybe, pace, type Steps, Unfinished } from '../pace.ts';
import { TextIndex } from '../text/text-index.ts';
import { wordsInSteps, wordsOf, wordsOfAll } from '../text/words.ts';

const cachedTextsMax = 1000;
const cachedUnitsMax = 100;
/** Words of a large text that are put at once, and what each takes in units of the pace. */
const wordsAtOnce = 1024;
const unitsPerWord = 200;

/** Everything a shard keeps for one field: its column, its inverted index, and what facets on numbers need. */
export class Field {
  readonly type: FieldType;
  readonly traits: FieldTraits;
  readonly column: Column;
  /** Null: its words are not searched. */
  readonly text: TextIndex | null;
  #facetCodes: CodeColumn | null = null;
  /** Docs below this have theirs in `#facetCodes`. */
  #facetDocs = 0;
  readonly #wordCache = new Map<string, readonly string[]>();
  /** Docs from here on were never set: a field that few docs have stays small. */
  #capacity = 0;

  constructor(type: FieldType) {
    this.type = type;
    this.traits = traitsOf(type);
    this.column = createColumn(type, 0);
    this.text = this.traits.isSearchable ? new TextIndex() : null;
  }

  get bytes(): number {
    return this.column.bytes + (this.text?.bytes ?? 0) + (this.#facetCodes?.bytes ?? 0);
  }

  /**
   * Takes a doc's value; the doc must be clear.
   * @param capacity of the shard, at least doc + 1
   * @returns whether the doc is now in the inverted index
   */
  set(doc: number, value: Json, capacity: number): boolean {
    this.#reserve(doc, capacity);
    this.column.set(doc, value);
    if (doc < this.#facetDocs) this.#facetCodes?.set(doc, this.#facetValue(value));
    return this.#addWords(doc, value);
  }

  /** As `set`, of a value that may be large, in steps. */
  *setLarge(doc: number, value: Json, capacity: number): Steps<boolean> {
    this.#reserve(doc, capacity);
    yield* setInSteps(this.column, doc, value);
    if (this.#facetCodes !== null && doc < this.#facetDocs) {
      yield* setInSteps(this.#facetCodes, doc, this.#facetValue(value));
    }
    if (this.text === null) return false;
    if (pace.isOver()) yield;
    const texts = Array.isArray(value) ? value.filter(isText) : isText(value) ? [value] : [];
    const words = yield* wordsInSteps(texts);
    for (let at = 0; at < words.length; at += wordsAtOnce) {
      const some = words.slice(at, at + wordsAtOnce);
      this.text.add(doc, some);
      pace.units += unitsPerWord * some.length;
      if (pace.isOver()) yield;
    }
    return words.length > 0;
  }

  /** Words stay in the inverted index until a sweep. */
  clear(doc: number): void {
    if (!this.column.present.has(doc)) return;
    this.column.clear(doc);
    if (doc < this.#facetDocs) this.#facetCodes?.clear(doc);
  }

  /** As `clear`, of a value that may be large, in steps. */
  *clearLarge(doc: number): Steps<void> {
    if (!this.column.present.has(doc)) return;
    yield* clearInSteps(this.column, doc);
    if (this.#facetCodes !== null && doc < this.#facetDocs) yield* clearInSteps(this.#facetCodes, doc);
  }

  /**
   * The codes to count for a facet. Numbers and dates have none of their own, so the first facet on such a field makes
   * them. Whoever is interrupted leaves what is made to the next one; meanwhile docs may come and go.
   * @param docCount docs are below this
   * @param valueAt the field's value of a doc that has it; it adds to the pace what it takes
   */
  facetCodes(docCount: number, valueAt: (doc: number) => Json): Maybe<CodeColumn> {
    if (this.column instanceof CodeColumn) return this.column;
    if (this.#facetCodes !== null && docCount <= this.#facetDocs) return this.#facetCodes;
    return new Unfinished(this.#buildFacetCodes(docCount, valueAt));
  }

  *#buildFacetCodes(docCount: number, valueAt: (doc: number) => Json): Steps<CodeColumn> {
    this.#facetCodes ??= createCodeColumn(this.traits.shape, this.#capacity, 'plain');
    while (this.#facetDocs < docCount) {
      const doc = this.#facetDocs;
      this.#facetDocs += 1;
      if (this.column.present.has(doc)) this.#facetCodes.set(doc, this.#facetValue(valueAt(doc)));
      if (pace.isOver()) yield;
    }
    // From here on all docs are followed.
    this.#facetDocs = Number.MAX_SAFE_INTEGER;
    return this.#facetCodes;
  }

  #addWords(doc: number, value: Json): boolean {
    if (this.text === null) return false;
    const words = Array.isArray(value) ? wordsOfAll(value.filter(isText)) : this.#wordsOf(value);
    this.text.add(doc, words);
    return words.length > 0;
  }

  /** Texts that several docs have, like the name of a country, are cut into words once. */
  #wordsOf(value: Json): readonly string[] {
    if (!isText(value)) return [];
    const cached = this.#wordCache.get(value);
    if (cached !== undefined) return cached;
    const words = wordsOf(value);
    if (value.length > cachedUnitsMax || !this.#isShared(value)) return words;
    if (this.#wordCache.size === cachedTextsMax) this.#wordCache.clear();
    this.#wordCache.set(value, words);
    return words;
  }

  #isShared(value: string): boolean {
    return this.column instanceof CodeColumn && this.column.dictionary.usesOfValue(value) > 1;
  }

  #reserve(doc: number, capacity: number): void {
    if (doc < this.#capacity) return;
    this.#capacity = capacity;
    this.column.grow(capacity);
    this.#facetCodes?.grow(capacity);
  }

  #facetValue(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.#facetItem(item));
    return this.#facetItem(value);
  }

  /** Longs are numbers where a number is exact, else text; 0 and -0 are one value; dates stand as they were sent. */
  #facetItem(value: Json): Json {
    if (this.traits.kind === 'long') {
      const whole = parseLong(value);
      if (whole === null) return null;
      const approx = Number(whole);
      return Number.isSafeInteger(approx) ? approx : whole.toString();
    }
    return value === 0 ? 0 : value;
  }
}

function* setInSteps(column: Column, doc: number, value: Json): Steps<void> {
  if (column instanceof ListCodes) yield* column.setInSteps(doc, value);
  else column.set(doc, value);
}

function* clearInSteps(column: Column, doc: number): Steps<void> {
  if (column instanceof ListCodes) yield* column.clearInSteps(doc);
  else column.clear(doc);
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}
