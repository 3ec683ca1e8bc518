import type { EntityRef } from '../../contract/ids.ts';
import type { Json } from '../../contract/json.ts';
import { shardSliceMs } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { finish, runSync, type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { IndexTexts } from '../../schemas/definition/index-texts.ts';
import { type Analyzer, analyzersOf, plainAnalyzer } from '../analysis/analyzer.ts';
import { type CheckedQuery, populationsOf } from '../checked-query.ts';
import type { SentPlace } from '../distinct/sent-place.ts';
import { facetGroupsPerShardMax } from '../facets/facet.ts';
import type { FieldType } from '../fields/field-type.ts';
import { fitField } from '../fields/fit.ts';
import { decidesNothing } from '../fields/infer.ts';
import type { PlainValue } from '../packed-values.ts';
import { type Scratch, Scratches } from '../scratch.ts';
import type { FacetGroup, FacetGroups, RowPlace, ShardAnswer, UnscoredAnswer } from '../shard-answer.ts';
import { type PartReader, type Parts, uint32 } from '../snapshot/parts.ts';
import { placesOf, placesOfFirsts, reduced, reductionOf } from './distinct.ts';
import type { IndexItem, ItemHead } from './doc-table.ts';
import { facetsOf, groupsOf, noGroups } from './facet-groups.ts';
import { findHits, type Hits, hitsBeside } from './hits.ts';
import { hitsInOrder } from './in-order.ts';
import { pageOf, rankingOf } from './ranking.ts';
import { Sweeper } from './sweeper.ts';
import { Field, fillField, Tables } from './tables.ts';
import { unscoredAnswer } from './unscored.ts';

/** Receives the position of the first item with a value (`nameOfValue`) in one of `populationsOf`. */
export type TakeFirst = (populationIndex: number, name: PlainValue, place: SentPlace) => boolean;

const scratches = new Scratches();
/** The cost of adding or removing an item, in units of the work budget, plus a unit for each character. */
const itemUnits = 1000;
const noMembers: ReadonlyMap<string, Json> = new Map();

/**
 * An in-memory index of the items of some partitions. The amortized time of `put` and `take` does not grow with the number of
 * items. Long work is done in steps. The shard must not be queried between the steps of a change, and must not change between
 * the steps of a query.
 */
export class Shard {
  readonly #tables = new Tables();
  readonly #sweeper = new Sweeper((doc) => this.#tables.docs.free(doc));
  /** True if any item has a field that the shard does not know (yet). */
  #hasUnknownField = false;

  readonly #analyzerOf: (field: string) => Analyzer;

  /** @param texts rules for the words of texts; absent: none */
  constructor({
    fields,
    texts,
  }: { readonly fields: ReadonlyMap<string, FieldType>; readonly texts?: IndexTexts }) {
    this.#analyzerOf = texts === undefined ? () => plainAnalyzer : analyzersOf(texts);
    for (const [name, type] of fields) this.#addField(name, type);
  }

  /** Number of items. */
  get size(): number {
    return this.#tables.docs.size;
  }

  /** Estimated bytes of memory. */
  get bytes(): number {
    return this.#tables.bytes;
  }

  /** Partitions that have items here. */
  partitions(): Set<number> {
    return this.#tables.docs.partitions();
  }

  /** Fields with their types, in the order that `restore` needs. */
  get fieldTypes(): readonly (readonly [name: string, type: FieldType])[] {
    return [...this.#tables.fields].map(([name, { type }]) => [name, type]);
  }

  /** The parts for a snapshot. The shard must not change before the last one is written. */
  *parts(): Parts {
    const { docs, fields } = this.#tables;
    yield Uint32Array.of(this.#hasUnknownField ? 1 : 0);
    yield* docs.parts();
    for (const field of fields.values()) yield* field.parts();
  }

  /**
   * Restores the parts of a shard with the same fields in the same order. This shard must be empty. It must not be queried
   * until all items are confirmed, put or taken (`hasUnconfirmed`).
   * @throws SnapshotDamagedError; then the shard must be discarded
   */
  async restore(from: PartReader): Promise<void> {
    const { docs, fields } = this.#tables;
    const [hasUnknownField] = await from.numbers(uint32);
    this.#hasUnknownField = hasUnknownField === 1;
    await docs.restore(from);
    for (const field of fields.values()) await field.restore(from);
    // Postings may still have removed docs.
    await new Slice(shardSliceMs).run(this.#buryGone());
  }

  *#buryGone(): Steps<void> {
    const { docs } = this.#tables;
    for (let doc = 0; doc < docs.docCount; doc += 1) {
      if (!docs.live.has(doc)) this.#sweeper.bury(doc);
      workBudget.units += 1;
      if (workBudget.isOver()) yield;
    }
  }

  /** True if items of a snapshot are not verified yet. */
  get hasUnconfirmed(): boolean {
    return this.#tables.docs.hasUnconfirmed;
  }

  /**
   * Confirms an item if it is unchanged.
   * @param updatedAtOf receives the JSON text of the stored fields in UTF-8 and returns the time of the item's last change;
   * null if the text differs from the item's
   * @returns whether it was confirmed; otherwise nothing was done
   */
  confirm(
    { partition, sourceId, originId }: Omit<ItemHead, 'updatedAtMs'>,
    updatedAtOf: (fieldsText: Buffer) => number | null,
  ): boolean {
    const { docs } = this.#tables;
    const doc = docs.find(sourceId, originId);
    const updatedAtMs = doc < 0 ? null : updatedAtOf(docs.textBytesOf(doc));
    if (updatedAtMs === null) return false;
    docs.touch(doc, partition, updatedAtMs);
    return true;
  }

  /** Removes the unconfirmed items of a snapshot. */
  dropUnconfirmed(): Steps<void> {
    return this.#dropAll((doc) => this.#tables.docs.isUnconfirmed(doc));
  }

  /** Adds an auto-indexed field or changes its type, and sets the values of all items. */
  *learnField(name: string, type: FieldType): Steps<void> {
    this.#tables.pendingSearches.clear();
    const isNew = !this.#tables.fields.has(name);
    const field = this.#addField(name, type);
    if (!isNew || this.#hasUnknownField) yield* fillField(name, field, this.#tables.docs);
  }

  #addField(name: string, type: FieldType): Field {
    const field = new Field(type, this.#analyzerOf(name));
    this.#tables.fields.set(name, field);
    for (const index of field.text?.indexes ?? []) this.#sweeper.watch(index);
    return field;
  }

  /** Adds or replaces an item. */
  *put(item: IndexItem): Steps<void> {
    const { docs, fields } = this.#tables;
    const fieldsText = item.fieldsText ?? JSON.stringify(item.fields);
    const before = docs.find(item.sourceId, item.originId);
    if (before >= 0 && docs.textOf(before) === fieldsText) {
      docs.touch(before, item.partition, item.updatedAtMs);
      return;
    }
    this.#tables.pendingSearches.clear();
    if (before >= 0) yield* this.#retire(before);
    const growing = docs.reserve();
    if (growing !== null) yield* growing;
    const doc = docs.add(item, fieldsText);
    workBudget.units += itemUnits + fieldsText.length;
    for (const name of Object.keys(item.fields)) {
      const field = fields.get(name);
      const value = item.fields[name] ?? null;
      if (field === undefined) this.#hasUnknownField = true;
      else if (hasPlaceFor(field, value) && (yield* field.set(doc, value, docs.capacity)))
        docs.markIndexed(doc);
      if (workBudget.isOver()) yield;
    }
    for (const [path, value] of item.members ?? noMembers) {
      const field = fields.get(path);
      if (field === undefined) this.#hasUnknownField = true;
      else if (yield* field.set(doc, value, docs.capacity)) docs.markIndexed(doc);
      if (workBudget.isOver()) yield;
    }
    yield* this.#sweep(this.#sweeper.dueWith(this.size));
  }

  /** Like `put`, without a pause. */
  upsert(item: IndexItem): void {
    runSync(this.put(item));
  }

  /** Removes an item. @returns whether there was one */
  *take(sourceId: string, originId: string): Steps<boolean> {
    const doc = this.#tables.docs.find(sourceId, originId);
    if (doc < 0) return false;
    this.#tables.pendingSearches.clear();
    yield* this.#retire(doc);
    yield* this.#sweep(this.#sweeper.dueWith(this.size));
    return true;
  }

  /** Like `take`, without a pause. */
  remove(sourceId: string, originId: string): boolean {
    return runSync(this.take(sourceId, originId));
  }

  /** Removes every item of a partition. */
  dropPartition(partition: number): Steps<void> {
    return this.#dropAll((doc) => this.#tables.docs.partitionOf(doc) === partition);
  }

  /** The analyzer for the words of a field. */
  analyzerOf(field: string): Analyzer {
    return this.#tables.fields.get(field)?.text?.analyzer ?? plainAnalyzer;
  }

  /** JSON text of an item's fields in UTF-8, which must not be modified; null if the item is not here. */
  fieldsBytesOf(sourceId: string, originId: string): Buffer | null {
    const { docs } = this.#tables;
    const doc = docs.find(sourceId, originId);
    return doc < 0 ? null : docs.textBytesOf(doc);
  }

  /**
   * Runs a query over the items of this shard.
   * @param facetGroupsMax number of groups to return if a facet requests fewer. With few groups, `counts` is needed more often
   */
  *answer(query: CheckedQuery, facetGroupsMax: number): Steps<ShardAnswer> {
    const scratch = scratches.take(this.#tables.docs.capacity);
    const inOrder = yield* hitsInOrder(query, this.#tables);
    if (inOrder !== null) {
      const rows = yield* pageOf(query, this.#tables, scratch, inOrder.hits);
      scratches.release(scratch);
      return { total: inOrder.total, rows, facets: [], valueCount: 0, stats: null };
    }
    const hits = yield* findHits(query, this.#tables, scratch);
    const reduction = reductionOf(query, this.#tables, scratch, hits);
    const left = reduction === null ? hits : yield* reduced(reduction, hits, 0);
    const sight = { query, tables: this.#tables, scratch, hits, left, reduction };
    const facets = yield* facetsOf(sight, facetGroupsMax);
    const listed = reduction === null ? hits : { ...hits, ...left };
    const rows = yield* pageOf(query, this.#tables, scratch, listed);
    releaseScratch(scratch, hits);
    const { stats } = hits;
    return { total: left.count, rows, facets, valueCount: reduction?.valueCount ?? 0, stats };
  }

  /** Like `answer`, without a pause. */
  query(query: CheckedQuery, facetGroupsMax: number = facetGroupsPerShardMax): ShardAnswer {
    return runSync(this.answer(query, facetGroupsMax));
  }

  /** Runs a search before its statistics are known; see `sumOfStats`. @param facetGroupsMax see `answer` */
  *unscored(query: CheckedQuery, facetGroupsMax: number): Steps<UnscoredAnswer> {
    const scratch = scratches.take(this.#tables.docs.capacity);
    const answer = yield* unscoredAnswer(query, this.#tables, scratch, facetGroupsMax);
    scratches.release(scratch);
    return answer;
  }

  /**
   * Reports the position of the first item for each value in this shard, for a query with `distinct`.
   * @param take returns false when it takes no more
   * @returns whether all were taken
   */
  *firsts(query: CheckedQuery, take: TakeFirst): Steps<boolean> {
    const scratch = scratches.take(this.#tables.docs.capacity);
    const hits = yield* findHits(query, this.#tables, scratch);
    const reduction = reductionOf(query, this.#tables, scratch, hits);
    assert(reduction !== null, 'only a query with distinct has firsts');
    let isComplete = true;
    for (const [at, population] of populationsOf(query).entries()) {
      if (at > 0 && !reduction.distinct.isForFacets) break;
      const docs = at === 0 ? hits : yield* hitsBeside(population.filter, this.#tables, hits);
      isComplete &&= yield* placesOfFirsts(reduction, docs, (name, place) => take(at, name, place));
    }
    releaseScratch(scratch, hits);
    return isComplete;
  }

  /**
   * Reports the positions of items in the order of the query, until `take` returns false; null for items that are not here.
   * @param take returns false when it takes no more
   */
  *places(
    query: CheckedQuery,
    refs: readonly EntityRef[],
    take: (place: RowPlace | null) => boolean,
  ): Steps<void> {
    const scratch = scratches.take(this.#tables.docs.capacity);
    const hits = yield* findHits({ ...query, filter: null }, this.#tables, scratch);
    yield* placesOf(refs, this.#tables, rankingOf(query, this.#tables, hits.scoreOf), take);
    releaseScratch(scratch, hits);
  }

  /**
   * The second request for a facet; see `mergeAnswers`. Returns exact counts of the given values, or of all groups (null),
   * unordered. Leaves out values that no item has.
   */
  *counts(
    query: CheckedQuery,
    facetIndex: number,
    values: readonly FacetGroup['value'][] | null,
  ): Steps<FacetGroups> {
    if (query.facets[facetIndex]?.isValid !== true) return noGroups;
    const scratch = scratches.take(this.#tables.docs.capacity);
    const hits = yield* findHits(query, this.#tables, scratch);
    const reduction = reductionOf(query, this.#tables, scratch, hits);
    const isReduced = reduction?.distinct.isForFacets === true;
    const left = isReduced ? yield* reduced(reduction, hits, 0) : hits;
    const sight = { query, tables: this.#tables, scratch, hits, left, reduction };
    const groups = yield* groupsOf(sight, facetIndex, values);
    releaseScratch(scratch, hits);
    return groups;
  }

  *#dropAll(isToGo: (doc: number) => boolean): Steps<void> {
    const { docs, pendingSearches } = this.#tables;
    // Even if no item is removed, because a running sweep changes the ids of terms.
    pendingSearches.clear();
    for (const doc of docs.all()) {
      if (!isToGo(doc)) continue;
      yield* this.#retire(doc);
      if (workBudget.isOver()) yield;
    }
    while (this.#sweeper.isMostlyDead(this.size)) yield* this.#sweep(Number.MAX_SAFE_INTEGER);
  }

  *#retire(doc: number): Steps<void> {
    const { docs, fields } = this.#tables;
    for (const field of fields.values()) yield* field.clear(doc);
    if (docs.retire(doc)) this.#sweeper.bury(doc);
    else docs.free(doc);
    workBudget.units += itemUnits;
  }

  *#sweep(due: number): Steps<void> {
    for (let left = due; left > 0; ) {
      left = this.#sweeper.advance(left);
      if (workBudget.isOver()) yield;
    }
  }
}

/** False for a value that decides no type and does not fit the type of the field. */
function hasPlaceFor({ type }: Field, value: Json): boolean {
  return !decidesNothing(value) || (value !== null && finish(fitField(type, value)).ok);
}

/** Gives back the scratch of a completed query. That of an aborted query may not be clear. */
function releaseScratch(scratch: Scratch, { touched, touchedCount }: Hits): void {
  scratch.clear(touched, touchedCount);
  scratches.release(scratch);
}
