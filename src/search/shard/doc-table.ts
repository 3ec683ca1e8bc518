/** The items of a shard, and the table that stores them. */
import type { Json, JsonObject } from '../../contract/json.ts';
import { parsed } from '../../contract/large-json/parse-in-parts.ts';
import { assert } from '../../lib/assert.ts';
import type { Resumable, Steps } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import type { CodeColumn } from '../columns/code-column.ts';
import type { Column } from '../columns/column.ts';
import { NumberColumn } from '../columns/number-column.ts';
import { ScalarCodes } from '../columns/scalar-codes.ts';
import { grown } from '../growth.ts';
import { int32, type PartReader, type Parts, uint32 } from '../snapshot/parts.ts';
import { compareText } from '../sort/text-order.ts';
import { TextArena } from './text-arena.ts';

/** An index item without its fields. */
export interface ItemHead {
  readonly partition: number;
  readonly sourceId: string;
  readonly originId: string;
  /** Milliseconds since 1970. */
  readonly updatedAtMs: number;
}

/** A complete index item. */
export interface IndexItem extends ItemHead {
  /**
   * Values that fit their types (see `fitField`), without nulls. For auto-indexed types, also values that decide no type (see
   * `decidesNothing`), even if they do not fit.
   */
  readonly fields: JsonObject;
  /** Values of members of objects by path, like `fields`. Only for auto-indexed types. */
  readonly members?: ReadonlyMap<string, Json> | undefined;
  /** JSON text of the fields, if the caller already has it. */
  readonly fieldsText?: string | undefined;
}

const capacityMin = 1024;

/**
 * The items of a shard by doc id. Doc ids are dense small numbers, which are reused when an item is removed. The table stores
 * ids, partition, time of change and fields. Built-in fields are normal columns.
 */
export class DocTable {
  live = new Bitmap(capacityMin);
  capacity = capacityMin;
  /** Doc ids in use or used before are below this. */
  docCount = 0;
  size = 0;
  readonly #originIds = new ScalarCodes(capacityMin, 'text');
  readonly #sourceIds = new ScalarCodes(capacityMin, 'text');
  readonly #updatedAt = new NumberColumn(capacityMin, 'date');
  #partitions = new Int32Array(capacityMin);
  /** Docs in any inverted index. They must be swept before their id is reused. */
  #indexed = new Bitmap(capacityMin);
  readonly #texts = new TextArena(capacityMin);
  readonly #free: number[] = [];
  /** Docs from a snapshot that are not yet verified against Redis. */
  #unconfirmed = new Bitmap(0);
  #unconfirmedCount = 0;

  get bytes(): number {
    const columns = this.#originIds.bytes + this.#sourceIds.bytes + this.#updatedAt.bytes;
    return columns + this.capacity * 4 + this.#texts.bytes;
  }

  *parts(): Parts {
    yield Uint32Array.of(this.capacity, this.docCount, this.size);
    yield* this.live.parts();
    for (const column of [this.#originIds, this.#sourceIds, this.#updatedAt]) yield* column.parts();
    yield this.#partitions;
    yield* this.#indexed.parts();
    yield* this.#texts.parts();
  }

  /** Restores the parts. Afterwards all docs are unconfirmed. Ids of removed docs are neither in use nor free. */
  async restore(from: PartReader): Promise<void> {
    [this.capacity = 0, this.docCount = 0, this.size = 0] = await from.numbers(uint32);
    await this.live.restore(from);
    for (const column of [this.#originIds, this.#sourceIds, this.#updatedAt]) await column.restore(from);
    this.#partitions = await from.numbers(int32);
    await this.#indexed.restore(from);
    await this.#texts.restore(from);
    this.#unconfirmed.words = this.live.words.slice();
    this.#unconfirmedCount = this.size;
  }

  get hasUnconfirmed(): boolean {
    return this.#unconfirmedCount > 0;
  }

  isUnconfirmed(doc: number): boolean {
    return this.#unconfirmed.has(doc);
  }

  /** The doc of an item; -1 if there is none. */
  find(sourceId: string, originId: string): number {
    let doc = this.#originIds.firstWith(originId);
    while (doc >= 0 && this.sourceIdOf(doc) !== sourceId) doc = this.#originIds.nextWithSame(doc);
    return doc;
  }

  /** Makes room for an item. @returns the required steps; null if there is room */
  reserve(): Steps<void> | null {
    const hasDoc = this.#free.length > 0 || this.docCount < this.capacity;
    const hasRoom = hasDoc && !this.#originIds.dictionary.isFull && !this.#sourceIds.dictionary.isFull;
    return hasRoom ? null : this.#grow();
  }

  /** Adds an item. There must be room for it. */
  add(item: IndexItem, fieldsText: string): number {
    const doc = this.#free.pop() ?? this.docCount;
    if (doc === this.docCount) this.docCount += 1;
    assert(doc < this.capacity, 'there is room for the doc');
    this.#originIds.put(doc, item.originId);
    this.#sourceIds.put(doc, item.sourceId);
    this.#updatedAt.set(doc, item.updatedAtMs);
    this.#partitions[doc] = item.partition;
    this.#texts.set(doc, fieldsText);
    this.live.add(doc);
    this.size += 1;
    return doc;
  }

  /** Updates the time of change, for unchanged fields. */
  touch(doc: number, partition: number, updatedAtMs: number): void {
    this.#partitions[doc] = partition;
    if (this.updatedAtMsOf(doc) !== updatedAtMs) this.#updatedAt.set(doc, updatedAtMs);
    this.#prove(doc);
  }

  markIndexed(doc: number): void {
    this.#indexed.add(doc);
  }

  /** Removes a doc. Its id is not reused before `free`. @returns whether it was marked as indexed */
  retire(doc: number): boolean {
    assert(this.live.has(doc), 'only live docs are retired');
    this.#originIds.clear(doc);
    this.#sourceIds.clear(doc);
    this.#updatedAt.clear(doc);
    this.#texts.clear(doc);
    this.live.remove(doc);
    this.#prove(doc);
    this.size -= 1;
    const isIndexed = this.#indexed.has(doc);
    this.#indexed.remove(doc);
    return isIndexed;
  }

  /** Frees an id that is in no inverted index. */
  free(doc: number): void {
    assert(!this.live.has(doc), 'no live doc is freed');
    this.#free.push(doc);
  }

  /** A copy of the ids of all docs, so that the table may change during iteration. */
  all(): Int32Array {
    const docs = new Int32Array(this.size);
    this.live.list(docs);
    return docs;
  }

  textOf(doc: number): string {
    return this.#texts.get(doc);
  }

  textBytesOf(doc: number): Buffer {
    return this.#texts.bytesOf(doc);
  }

  /** The fields of an item, in steps if they are large. */
  readFields(doc: number): Resumable<JsonObject> {
    return parsed(this.textOf(doc)) as Resumable<JsonObject>;
  }

  originIdOf(doc: number): string {
    return this.#originIds.textAt(doc);
  }

  sourceIdOf(doc: number): string {
    return this.#sourceIds.textAt(doc);
  }

  updatedAtMsOf(doc: number): number {
    return this.#updatedAt.approxAt(doc);
  }

  partitionOf(doc: number): number {
    return this.#partitions[doc] ?? -1;
  }

  /** Partitions that have items. */
  partitions(): Set<number> {
    const partitions = new Set<number>();
    for (let doc = 0; doc < this.docCount; doc += 1) {
      if (this.live.has(doc)) partitions.add(this.partitionOf(doc));
    }
    return partitions;
  }

  /** Orders docs by `_originId`, then `_sourceGuid`. */
  compareIds(a: number, b: number): number {
    const compared = this.#originIds.dictionary.compare(this.#originIds.codeAt(a), this.#originIds.codeAt(b));
    return compared === 0 ? compareText(this.sourceIdOf(a), this.sourceIdOf(b)) : compared;
  }

  /** The column of a built-in field that can be filtered and sorted. */
  builtIn(name: string): Column | undefined {
    if (name === '_updatedAt') return this.#updatedAt;
    return this.facetCodes(name) ?? undefined;
  }

  /** The column of a built-in field that can be faceted. */
  facetCodes(name: string): CodeColumn | null {
    if (name === '_originId') return this.#originIds;
    return name === '_sourceGuid' ? this.#sourceIds : null;
  }

  #prove(doc: number): void {
    if (!this.#unconfirmed.has(doc)) return;
    this.#unconfirmed.remove(doc);
    this.#unconfirmedCount -= 1;
  }

  *#grow(): Steps<void> {
    for (const ids of [this.#originIds, this.#sourceIds]) {
      if (ids.dictionary.isFull) yield* ids.growCodes();
    }
    if (this.#free.length > 0 || this.docCount < this.capacity) return;
    const capacity = this.capacity * 2;
    this.live.grow(capacity);
    this.#indexed.grow(capacity);
    yield* this.#originIds.grow(capacity);
    yield* this.#sourceIds.grow(capacity);
    yield* this.#updatedAt.grow(capacity);
    yield* this.#texts.grow(capacity);
    this.#partitions = yield* grown(this.#partitions, new Int32Array(capacity), 0);
    this.capacity = capacity;
  }
}
