import { getOwn } from '../../contract/json.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { facetGroupsPerShardMax } from '../facets/facet.ts';
import type { FieldType } from '../fields/field-type.ts';
import type { IndexItem } from '../index-item.ts';
import { atOnce, finish, type Maybe, pace, type Steps, Unfinished } from '../pace.ts';
import type { FacetGroup, FacetGroups, ShardAnswer } from '../shard-answer.ts';
import { facetsOf, groupsOf, noGroups } from './facet-groups.ts';
import { Field } from './field.ts';
import { findHits, type Hits } from './hits.ts';
import { pageOf } from './page.ts';
import { type Scratch, Scratches } from './scratch.ts';
import { Sweeper } from './sweeper.ts';
import { Tables } from './tables.ts';

const scratches = new Scratches();
/** The cost of putting or taking out an item, in units of the pace, besides a unit for each character. */
const itemUnits = 1000;

/**
 * An index in memory: the items of some partitions, ready for queries. The time of `put` and `take` does not grow with
 * the number of items (amortised). Work that may take long is done in steps. Between the steps of a change nobody may
 * ask the shard. Between the steps of a query the shard must not change.
 */
export class Shard {
  readonly #tables = new Tables();
  readonly #sweeper = new Sweeper((doc) => this.#tables.docs.free(doc));
  /** True when some item has a field that the shard does not know (yet). */
  #hasUnknownField = false;

  constructor({ fields }: { readonly fields: ReadonlyMap<string, FieldType> }) {
    for (const [name, type] of fields) this.addField(name, type);
  }

  /** Number of items. */
  get size(): number {
    return this.#tables.docs.size;
  }

  /** Estimated bytes of memory. */
  get bytes(): number {
    return this.#tables.bytes;
  }

  /** Adds a field that auto-indexing has found, with the values that items have already. */
  addField(name: string, type: FieldType): void {
    const { docs, fields } = this.#tables;
    const known = fields.get(name);
    if (known !== undefined) {
      if (known.type !== type) throw new Error(`field ${name} is ${known.type}, not ${type}`);
      return;
    }
    const field = new Field(type);
    fields.set(name, field);
    if (field.text !== null) this.#sweeper.watch(field.text);
    if (!this.#hasUnknownField) return;
    for (const doc of docs.all()) {
      const value = getOwn(docs.fieldsOf(doc), name) ?? null;
      if (value !== null && atOnce(field.set(doc, value, docs.capacity))) docs.markIndexed(doc);
    }
  }

  /** Puts an item in place of the one with the same ids, in steps. */
  put(item: IndexItem): Maybe<void> {
    return new Unfinished(this.#put(item));
  }

  /** As `put`, without a pause. */
  upsert(item: IndexItem): void {
    finish(this.put(item));
  }

  /** Removes an item, in steps. @returns whether there was one */
  take(sourceId: string, originId: string): Maybe<boolean> {
    return new Unfinished(this.#take(sourceId, originId));
  }

  /** As `take`, without a pause. */
  remove(sourceId: string, originId: string): boolean {
    return finish(this.take(sourceId, originId));
  }

  /** Removes every item of a partition, in steps. */
  dropPartition(partition: number): Maybe<void> {
    return new Unfinished(this.#dropPartition(partition));
  }

  /** JSON text of an item's fields in UTF-8, which must not be changed; null when the item is not here. */
  fieldsBytesOf(sourceId: string, originId: string): Buffer | null {
    const { docs } = this.#tables;
    const doc = docs.find(sourceId, originId);
    return doc < 0 ? null : docs.textBytesOf(doc);
  }

  /**
   * Answers a query over the items here, in steps.
   * @param facetGroupsMax number of groups to give when a facet asks for fewer. With few groups `counts` must be asked
   * more often
   */
  answer(query: CheckedQuery, facetGroupsMax: number): Maybe<ShardAnswer> {
    return new Unfinished(this.#answer(query, facetGroupsMax));
  }

  /** As `answer`, without a pause. */
  query(query: CheckedQuery, facetGroupsMax: number = facetGroupsPerShardMax): ShardAnswer {
    return finish(this.answer(query, facetGroupsMax));
  }

  /**
   * Answers the second question about a facet, in steps; see `mergeAnswers`. It gives exact counts of the given values,
   * or of all groups (null), in no order. Values that no item has are left out.
   */
  counts(
    query: CheckedQuery,
    facetIndex: number,
    values: readonly FacetGroup['value'][] | null,
  ): Maybe<FacetGroups> {
    return new Unfinished(this.#counts(query, facetIndex, values));
  }

  /** As `counts`, without a pause. */
  facetCounts(
    query: CheckedQuery,
    facetIndex: number,
    values: readonly FacetGroup['value'][] | null,
  ): FacetGroups {
    return finish(this.counts(query, facetIndex, values));
  }

  *#put(item: IndexItem): Steps<void> {
    const { docs, fields } = this.#tables;
    const fieldsText = item.fieldsText ?? JSON.stringify(item.fields);
    const before = docs.find(item.sourceId, item.originId);
    if (before >= 0 && docs.textOf(before) === fieldsText) {
      docs.touch(before, item.partition, item.updatedAtMs);
      return;
    }
    if (before >= 0) yield* this.#retire(before);
    const doc = docs.add(item, fieldsText);
    pace.units += itemUnits + fieldsText.length;
    for (const name of Object.keys(item.fields)) {
      const field = fields.get(name);
      const value = item.fields[name] ?? null;
      if (field === undefined) this.#hasUnknownField = true;
      else if (value !== null && (yield* field.set(doc, value, docs.capacity))) docs.markIndexed(doc);
      if (pace.isOver()) yield;
    }
    yield* this.#sweep(this.#sweeper.dueWith(this.size));
  }

  *#take(sourceId: string, originId: string): Steps<boolean> {
    const doc = this.#tables.docs.find(sourceId, originId);
    if (doc < 0) return false;
    yield* this.#retire(doc);
    yield* this.#sweep(this.#sweeper.dueWith(this.size));
    return true;
  }

  *#dropPartition(partition: number): Steps<void> {
    const { docs } = this.#tables;
    for (const doc of docs.all()) {
      if (docs.partitionOf(doc) !== partition) continue;
      yield* this.#retire(doc);
      if (pace.isOver()) yield;
    }
    while (this.#sweeper.isMostlyDead(this.size)) yield* this.#sweep(Number.MAX_SAFE_INTEGER);
  }

  *#retire(doc: number): Steps<void> {
    const { docs, fields } = this.#tables;
    for (const field of fields.values()) yield* field.clear(doc);
    if (docs.retire(doc)) this.#sweeper.bury(doc);
    else docs.free(doc);
    pace.units += itemUnits;
  }

  *#sweep(due: number): Steps<void> {
    for (let left = due; left > 0; ) {
      left = this.#sweeper.advance(left);
      if (pace.isOver()) yield;
    }
  }

  *#answer(query: CheckedQuery, facetGroupsMax: number): Steps<ShardAnswer> {
    const scratch = scratches.take(this.#tables.docs.capacity);
    const hits = yield* findHits(query, this.#tables, scratch);
    // Facets come first. They read the hits and leave them in place for the page.
    const facets = yield* facetsOf(query, this.#tables, scratch, hits, facetGroupsMax);
    const rows = yield* pageOf(query, this.#tables, scratch, hits.count);
    giveBack(scratch, hits);
    return { total: hits.count, rows, facets };
  }

  *#counts(
    query: CheckedQuery,
    facetIndex: number,
    values: readonly FacetGroup['value'][] | null,
  ): Steps<FacetGroups> {
    const facet = query.facets[facetIndex];
    if (facet === undefined || !facet.isValid) return noGroups;
    const scratch = scratches.take(this.#tables.docs.capacity);
    const hits = yield* findHits(query, this.#tables, scratch);
    const groups = yield* groupsOf(facet.field, this.#tables, scratch, hits, values);
    giveBack(scratch, hits);
    return groups;
  }
}

/** Gives back the scratch of a query that ended. A query that was left halfway may have left anything behind. */
function giveBack(scratch: Scratch, { found, foundCount }: Hits): void {
  scratch.clearScores(found, foundCount);
  scratches.giveBack(scratch);
}
