/** The data of a shard: the doc table, and for each field a column, an inverted index and codes for facets. */
import type { Json } from '../../contract/json.ts';
import { pendingSearchesMax, pendingSearchTermsMax, pendingSearchWordsMax } from '../../contract/limits.ts';
import { type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { type Analyzer, plainAnalyzer } from '../analysis/analyzer.ts';
import type { CheckedSearch } from '../checked-query.ts';
import { CodeColumn } from '../columns/code-column.ts';
import type { Column } from '../columns/column.ts';
import { createColumn } from '../columns/create-column.ts';
import { type FieldTraits, type FieldType, traitsOf } from '../fields/field-type.ts';
import { fitField } from '../fields/fit.ts';
import { sentValue } from '../fields/paths.ts';
import type { TextScale } from '../shard-answer.ts';
import { type PartReader, type Parts, uint32 } from '../snapshot/parts.ts';
import { FieldText } from '../text/field-text.ts';
import type { WordSearch } from '../text/matching-terms.ts';
import { DocTable } from './doc-table.ts';
import { FacetCodes } from './facet-codes.ts';

/** The cost of reading an item, in units of the work budget, besides a unit for each character. */
const unitsPerItem = 1000;

/** The docs of a shard and its fields by name. Built-in fields take precedence over fields with the same name. */
export class Tables {
  readonly docs = new DocTable();
  readonly fields = new Map<string, Field>();
  readonly pendingSearches = new PendingSearches();

  /** Estimated bytes of memory. */
  get bytes(): number {
    let { bytes } = this.docs;
    for (const field of this.fields.values()) bytes += field.bytes;
    return bytes;
  }

  /** The column of a field; undefined if no doc has the field. */
  column(name: string): Column | undefined {
    return this.docs.builtIn(name) ?? this.fields.get(name)?.column;
  }

  /** How to compare texts of the field in facets. */
  scaleOf(name: string): TextScale | undefined {
    const kind = this.docs.builtIn(name) === undefined ? this.fields.get(name)?.traits.kind : undefined;
    return kind === 'long' || kind === 'date' ? kind : undefined;
  }
}

/** The data of one field: column, inverted index, and codes for facets on numbers. */
export class Field {
  readonly type: FieldType;
  readonly traits: FieldTraits;
  readonly column: Column;
  /** Null if the field is not searchable. */
  readonly text: FieldText | null;
  /** Null before the first facet on a field whose column has no codes. */
  #facetCodes: FacetCodes | null = null;
  /** Docs from here on were never set, so that fields of few docs stay small. */
  #capacity = 0;

  constructor(type: FieldType, analyzer: Analyzer = plainAnalyzer) {
    this.type = type;
    this.traits = traitsOf(type);
    this.column = createColumn(type, 0);
    this.text = this.traits.isSearchable ? new FieldText(analyzer) : null;
  }

  get bytes(): number {
    return this.column.bytes + (this.text?.bytes ?? 0) + (this.#facetCodes?.bytes ?? 0);
  }

  *parts(): Parts {
    yield Uint32Array.of(this.#capacity);
    yield* this.column.parts();
    if (this.text !== null) yield* this.text.parts();
  }

  async restore(from: PartReader): Promise<void> {
    [this.#capacity = 0] = await from.numbers(uint32);
    await this.column.restore(from);
    await this.text?.restore(from);
  }

  /**
   * Sets the value of a doc, which must be clear.
   * @param capacity of the shard, at least doc + 1
   * @returns whether the doc is now in the inverted index
   */
  *set(doc: number, value: Json, capacity: number): Steps<boolean> {
    if (doc >= this.#capacity) yield* this.#grow(capacity);
    const left = this.column.set(doc, value);
    if (left !== null) yield* left;
    const leftOfFacet = this.#facetCodes?.set(doc, value) ?? null;
    if (leftOfFacet !== null) yield* leftOfFacet;
    if (this.text === null) return false;
    const texts = Array.isArray(value) ? value.filter(isText) : isText(value) ? [value] : [];
    return yield* this.text.add(doc, texts);
  }

  /** Removes a doc's value. Its words stay in the inverted index until a sweep. */
  *clear(doc: number): Steps<void> {
    this.text?.counts.clear(doc);
    if (!this.column.present.has(doc)) return;
    const left = this.column.clear(doc);
    if (left !== null) yield* left;
    const leftOfFacet = this.#facetCodes?.clear(doc) ?? null;
    if (leftOfFacet !== null) yield* leftOfFacet;
  }

  /**
   * The codes that a facet counts.
   * @param docCount all doc ids are below this
   * @param valueAt reads the field's value of a doc that has one and adds the cost to the work budget
   */
  *facetCodes(docCount: number, valueAt: (doc: number) => Resumable<Json>): Steps<CodeColumn> {
    if (this.column instanceof CodeColumn) return this.column;
    this.#facetCodes ??= new FacetCodes(this.traits, this.#capacity);
    const { present } = this.column;
    return yield* this.#facetCodes.complete(docCount, (doc) => (present.has(doc) ? valueAt(doc) : null));
  }

  /** True if facets have found dates in several notations. */
  get hasMixedDates(): boolean {
    return this.#facetCodes?.hasMixedDates === true;
  }

  *#grow(capacity: number): Steps<void> {
    this.#capacity = capacity;
    yield* this.column.grow(capacity);
    if (this.#facetCodes !== null) yield* this.#facetCodes.grow(capacity);
  }
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

/** Sets the fitting values of all items in a new field. */
export function* fillField(name: string, field: Field, docs: DocTable): Steps<void> {
  for (const doc of docs.all()) {
    workBudget.units += unitsPerItem + docs.textBytesOf(doc).length;
    const made = docs.readFields(doc);
    const sent = sentValue(made instanceof Suspended ? yield* made.steps : made, name);
    const value = sent instanceof Suspended ? yield* sent.steps : sent;
    if (value !== null) {
      const fitted = fitField(field.type, value);
      const fit = fitted instanceof Suspended ? yield* fitted.steps : fitted;
      if (fit.ok && (yield* field.set(doc, fit.value, docs.capacity))) docs.markIndexed(doc);
    }
    if (workBudget.isOver()) yield;
  }
}

/**
 * Keeps searches, with the terms that match their words, between the requests for statistics and for items (`unscored.ts`).
 * Finding the terms is half of the work of a search with typos. Valid until an item changes.
 */
export class PendingSearches {
  /** Oldest first. */
  readonly #searches = new Map<string, WordSearch>();

  add(words: WordSearch): void {
    // Even a word that no field has takes memory for each field.
    if (words.words.length * words.fields.length > pendingSearchWordsMax) return;
    if (words.termCount > pendingSearchTermsMax) return;
    this.#searches.set(keyOf(words.search), words);
    for (const key of this.#searches.keys()) {
      if (this.#searches.size <= pendingSearchesMax) return;
      this.#searches.delete(key);
    }
  }

  /** Removes and returns a search; null if it is not here. */
  take(search: CheckedSearch): WordSearch | null {
    if (search.stats === null || this.#searches.size === 0) return null;
    const key = keyOf(search);
    const words = this.#searches.get(key);
    if (words === undefined) return null;
    this.#searches.delete(key);
    return words.withStats(search);
  }

  clear(): void {
    // A map that is empty makes a new table of itself all the same.
    if (this.#searches.size > 0) this.#searches.clear();
  }
}

/** Contains everything that determines which terms match. */
function keyOf({ fields, value, keep, literal, prefix, fuzziness, operators }: CheckedSearch): string {
  return JSON.stringify([fields, value, keep, literal, prefix, fuzziness, operators]);
}
