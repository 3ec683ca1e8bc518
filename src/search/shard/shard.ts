import type { Json, JsonObject } from '../../contract/json.ts';
import { getOwn } from '../../contract/json.ts';
import { Bitmap } from '../bitmap.ts';
import type { CheckedQuery, FilterNode } from '../checked-query.ts';
import type { CodeColumn } from '../columns/code-column.ts';
import type { Column } from '../columns/column.ts';
import { countAll, countGroups, countValues, facetGroupsPerShardMax } from '../facets/facet.ts';
import type { FieldType } from '../fields/field-type.ts';
import { isFacetable } from '../fields/field-type.ts';
import { bindFilter, type FilterScope, keepBy, siftAll } from '../filter/filter.ts';
import { sparseShare } from '../filter/matcher.ts';
import type { IndexItem } from '../index-item.ts';
import { chain, finish, type Maybe, mapInTurn, pace, repeat, type Steps, Unfinished } from '../pace.ts';
import type { FacetGroup, FacetGroups, Row, RowPlace, ShardAnswer } from '../shard-answer.ts';
import { absentOrder, type Order } from '../sort/order.ts';
import { type Ranking, topDocs } from '../sort/top-docs.ts';
import { compareText } from '../text/code-points.ts';
import { ScoreOrder, scoreOf } from '../text/score.ts';
import { runSearch } from '../text/word-search.ts';
import { DocTable } from './doc-table.ts';
import { Field } from './field.ts';
import { type Scratch, Scratches } from './scratch.ts';
import { Sweeper } from './sweeper.ts';

const scratches = new Scratches();
/** Units of the pace: what a row takes for each key of its sort, and a byte of JSON text to be parsed. */
const rowUnits = 50;
/** A page of the usual size. */
const rowsAtOnce = 100;
/** What an item takes to be put or taken out, beside a unit a character. */
const putUnits = 1000;
/** Larger ones are put in steps. */
const largeItemUnits = 32_768;
const parseUnits = 5;

const noGroups: FacetGroups = { groups: [] };

/**
 * An index in memory: the items of some partitions, ready for queries. It follows `upsert` and `remove`, each in time
 * that does not grow with the number of items (amortised).
 */
export class Shard {
  readonly #fields = new Map<string, Field>();
  readonly #docs = new DocTable();
  readonly #sweeper = new Sweeper((doc) => this.#docs.free(doc));
  /** Some item has a field that the shard does not know (yet). */
  #hasUnknownField = false;

  constructor({ fields }: { readonly fields: ReadonlyMap<string, FieldType> }) {
    for (const [name, type] of fields) this.addField(name, type);
  }

  /** Number of items. */
  get size(): number {
    return this.#docs.size;
  }

  /** Estimated bytes of memory. */
  get bytes(): number {
    let bytes = this.#docs.bytes;
    for (const field of this.#fields.values()) bytes += field.bytes;
    return bytes;
  }

  /** Adds a field that auto-indexing has found; values that items have of it already are taken in. */
  addField(name: string, type: FieldType): void {
    const known = this.#fields.get(name);
    if (known !== undefined) {
      if (known.type !== type) throw new Error(`field ${name} is ${known.type}, not ${type}`);
      return;
    }
    const field = new Field(type);
    this.#fields.set(name, field);
    if (field.text !== null) this.#sweeper.watch(field.text);
    if (!this.#hasUnknownField) return;
    for (const doc of this.#docs.all()) this.#setField(doc, field, getOwn(this.#docs.fieldsOf(doc), name));
  }

  /** As `put`, without a pause. */
  upsert(item: IndexItem): void {
    finish(this.put(item));
  }

  /** Puts an item, in place of the one with the same ids, in steps between which nobody may ask the shard. */
  put(item: IndexItem): Maybe<void> {
    const fieldsText = item.fieldsText ?? JSON.stringify(item.fields);
    const before = this.#docs.find(item.sourceId, item.originId);
    if (before >= 0 && this.#docs.textOf(before) === fieldsText) {
      this.#docs.touch(before, item.partition, item.updatedAtMs);
      return;
    }
    if (fieldsText.length > largeItemUnits || (before >= 0 && this.#isLarge(before))) {
      return new Unfinished(this.#putLarge(item, fieldsText, before));
    }
    if (before >= 0) this.#retire(before);
    const doc = this.#docs.add(item, fieldsText);
    pace.units += putUnits + fieldsText.length;
    for (const name of Object.keys(item.fields)) {
      const field = this.#fields.get(name);
      if (field === undefined) this.#hasUnknownField = true;
      else this.#setField(doc, field, item.fields[name]);
    }
    return this.#sweep(this.#sweeper.dueWith(this.size));
  }

  /** Of a large item, or in place of one. @param before doc that it had; negative for none */
  *#putLarge(item: IndexItem, fieldsText: string, before: number): Steps<void> {
    if (before >= 0) yield* this.#retireLarge(before);
    const doc = this.#docs.add(item, fieldsText);
    pace.units += putUnits + fieldsText.length;
    for (const name of Object.keys(item.fields)) {
      const field = this.#fields.get(name);
      if (field === undefined) this.#hasUnknownField = true;
      else yield* this.#setLarge(doc, field, item.fields[name]);
    }
    const swept = this.#sweep(this.#sweeper.dueWith(this.size));
    if (swept instanceof Unfinished) yield* swept.steps;
  }

  /** JSON text of an item's fields in UTF-8, not to be changed; null when it is not here. */
  fieldsBytesOf(sourceId: string, originId: string): Buffer | null {
    const doc = this.#docs.find(sourceId, originId);
    return doc < 0 ? null : this.#docs.textBytesOf(doc);
  }

  /** As `take`, without a pause. */
  remove(sourceId: string, originId: string): boolean {
    return finish(this.take(sourceId, originId));
  }

  /** Removes an item, in steps as `put`; true when there was one. */
  take(sourceId: string, originId: string): Maybe<boolean> {
    const doc = this.#docs.find(sourceId, originId);
    if (doc < 0) return false;
    pace.units += putUnits;
    const retired = this.#isLarge(doc) ? new Unfinished(this.#retireLarge(doc)) : this.#retire(doc);
    const swept = chain(retired, () => this.#sweep(this.#sweeper.dueWith(this.size)));
    return chain(swept, () => true);
  }

  /** Removes every item of a partition, in steps as `put`. */
  dropPartition(partition: number): Maybe<void> {
    return new Unfinished(this.#dropPartition(partition));
  }

  *#dropPartition(partition: number): Steps<void> {
    for (const doc of this.#docs.all()) {
      if (this.#docs.partitionOf(doc) !== partition) continue;
      if (this.#isLarge(doc)) yield* this.#retireLarge(doc);
      else this.#retire(doc);
      pace.units += putUnits;
      if (pace.isOver()) yield;
    }
    while (this.#sweeper.isMostlyDead(this.size)) {
      this.#sweeper.advance(Number.MAX_SAFE_INTEGER);
      if (pace.isOver()) yield;
    }
  }

  #sweep(due: number): Maybe<void> {
    if (due === 0) return;
    let left = due;
    return repeat(() => {
      left = this.#sweeper.advance(left);
      return left > 0;
    });
  }

  /** As `answer`, without a pause. */
  query(query: CheckedQuery, facetGroupsMax: number = facetGroupsPerShardMax): ShardAnswer {
    return finish(this.answer(query, facetGroupsMax));
  }

  /** As `counts`, without a pause. */
  facetCounts(
    query: CheckedQuery,
    facetIndex: number,
    values: readonly FacetGroup['value'][] | null,
  ): FacetGroups {
    return finish(this.counts(query, facetIndex, values));
  }

  /**
   * Answers a query over the items here, in steps between which the shard must not change.
   * @param facetGroupsMax groups of a facet to answer with, at least as many as asked for; fewer make it likelier that `counts` must be asked
   */
  answer(query: CheckedQuery, facetGroupsMax: number): Maybe<ShardAnswer> {
    const scratch = scratches.take(this.#docs.capacity);
    return chain(this.#hits(query, scratch), (hits) =>
      // Facets first: they read the hits, which the page leaves in place.
      chain(this.#facets(query, hits, scratch, facetGroupsMax), (facets) =>
        chain(this.#page(query, hits.count, scratch), (rows) => {
          this.#giveBack(scratch, hits);
          return { total: hits.count, rows, facets };
        }),
      ),
    );
  }

  /**
   * The second question of a facet, see `mergeAnswers`: exact counts of the given values, or of all groups (null), in no
   * order. Values that no item has are left out. In steps, as `answer`.
   */
  counts(
    query: CheckedQuery,
    facetIndex: number,
    values: readonly FacetGroup['value'][] | null,
  ): Maybe<FacetGroups> {
    const facet = query.facets[facetIndex];
    if (facet === undefined || !facet.isValid) return noGroups;
    const { field } = facet;
    const scratch = scratches.take(this.#docs.capacity);
    return chain(this.#hits(query, scratch), (hits) =>
      chain(this.#groups(field, hits, scratch, values), (groups) => {
        this.#giveBack(scratch, hits);
        return { groups, ...(this.#isLong(field) ? { isLong: true } : {}) };
      }),
    );
  }

  #groups(
    field: string,
    { count }: Hits,
    { hits, tally }: Scratch,
    values: readonly FacetGroup['value'][] | null,
  ): Maybe<FacetGroup[]> {
    return chain(this.#facetCodes(field), (codes) => {
      pace.enter('facets', field);
      if (codes === null) return [];
      return values === null
        ? countAll(codes, hits, count, tally)
        : countValues(codes, hits, count, tally, values);
    });
  }

  #setField(doc: number, field: Field, value: Json | undefined): void {
    if (value === undefined || value === null) return;
    if (field.set(doc, value, this.#docs.capacity)) this.#docs.markIndexed(doc);
  }

  *#setLarge(doc: number, field: Field, value: Json | undefined): Steps<void> {
    if (value === undefined || value === null) return;
    if (yield* field.setLarge(doc, value, this.#docs.capacity)) this.#docs.markIndexed(doc);
    if (pace.isOver()) yield;
  }

  #isLarge(doc: number): boolean {
    return this.#docs.textBytesOf(doc).length > largeItemUnits;
  }

  *#retireLarge(doc: number): Steps<void> {
    for (const field of this.#fields.values()) yield* field.clearLarge(doc);
    this.#retire(doc);
  }

  #retire(doc: number): void {
    for (const field of this.#fields.values()) field.clear(doc);
    const isIndexed = this.#docs.retire(doc);
    if (isIndexed) this.#sweeper.bury(doc);
    else this.#docs.free(doc);
  }

  /** Puts the docs that match into `scratch.hits`, and sets the scores. */
  #hits(query: CheckedQuery, scratch: Scratch): Maybe<Hits> {
    const { filter, search } = query;
    if (search !== null) return this.#searched(filter, search, scratch);
    if (filter !== null) return this.#filtered(filter, scratch);
    return { count: this.#docs.live.list(scratch.hits), found: scratch.hits, foundCount: 0 };
  }

  /** Not of a query that was left halfway: nobody knows what it left behind. */
  #giveBack(scratch: Scratch, { found, foundCount }: Hits): void {
    scratch.clearScores(found, foundCount);
    scratches.giveBack(scratch);
  }

  #filtered(filter: FilterNode, { hits }: Scratch): Maybe<Hits> {
    const { docCount } = this.#docs;
    const counted = chain(bindFilter(filter, this.#filterScope()), (matcher) => {
      const { few } = matcher;
      if (few !== null && few.count * sparseShare < docCount) {
        return siftAll(few.rest, hits, few.list(hits));
      }
      const matching = new Bitmap(docCount);
      return chain(matcher.scan(matching, docCount), () => matching.list(hits));
    });
    return chain(counted, (count) => ({ count, found: hits, foundCount: 0 }));
  }

  #filterScope(): FilterScope {
    const { live, docCount } = this.#docs;
    return { live, docCount, column: (name) => this.#column(name) };
  }

  #searched(
    filter: FilterNode | null,
    search: NonNullable<CheckedQuery['search']>,
    scratch: Scratch,
  ): Maybe<Hits> {
    const { hits } = scratch;
    const text = this.#fields.get(search.field)?.text ?? null;
    if (text === null) return { count: 0, found: hits, foundCount: 0 };
    pace.enter('search');
    return chain(runSearch(text, search, this.#docs.live, scratch), (foundCount) => {
      if (filter === null || foundCount === 0) return { count: foundCount, found: hits, foundCount };
      const found = hits.slice(0, foundCount);
      const kept = this.#kept(filter, hits, foundCount);
      return chain(kept, (count) => ({ count, found, foundCount }));
    });
  }

  /** Keeps the listed docs that match. */
  #kept(filter: FilterNode, docs: Int32Array, count: number): Maybe<number> {
    const { docCount } = this.#docs;
    return chain(bindFilter(filter, this.#filterScope()), (matcher) => {
      if (count * sparseShare < docCount) return matcher.sift(docs, count);
      const matching = new Bitmap(docCount);
      return chain(matcher.scan(matching, docCount), () => keepBy((doc) => matching.has(doc), docs, count));
    });
  }

  #page(query: CheckedQuery, count: number, scratch: Scratch): Maybe<Row[]> {
    const { sort, search, offset, pageSize, after } = query;
    pace.enter('sort');
    const scores = search === null ? null : scratch.scores;
    const ranking: Ranking = {
      orders: sort.map(({ field, order }) => this.#order(field, order === 'desc', scores)),
      compareIds: (a, b) => this.#docs.compareIds(a, b),
      compareIdsTo: (doc, place) =>
        compareText(this.#docs.originIdOf(doc), place.originId) ||
        compareText(this.#docs.sourceIdOf(doc), place.sourceId),
    };
    const limit = pageSize === 0 ? 0 : offset + pageSize;
    const top = topDocs(ranking, scratch.hits, scratch.keys, count, limit, after);
    if (top instanceof Unfinished || top.length > rowsAtOnce) {
      return new Unfinished(this.#rows(top, ranking.orders, scores));
    }
    const rows: Row[] = [];
    for (let at = 0; at < top.length; at += 1) rows.push(this.#row(top[at] ?? 0, ranking.orders, scores));
    pace.units += rowUnits * rows.length * ranking.orders.length;
    return rows;
  }

  *#rows(top: Maybe<Int32Array>, orders: readonly Order[], scores: Uint32Array | null): Steps<Row[]> {
    const docs = top instanceof Unfinished ? yield* top.steps : top;
    const rows: Row[] = [];
    for (let at = 0; at < docs.length; at += 1) {
      rows.push(this.#row(docs[at] ?? 0, orders, scores));
      pace.units += rowUnits * orders.length;
      if (pace.isOver()) yield;
    }
    return rows;
  }

  #row(doc: number, orders: readonly Order[], scores: Uint32Array | null): Row {
    const place = {
      values: orders.map((order) => order.value(doc)),
      originId: this.#docs.originIdOf(doc),
      sourceId: this.#docs.sourceIdOf(doc),
    };
    const score = scoreOf(scores?.[doc] ?? 0);
    return new ShardRow(place, score, this.#docs.updatedAtMsOf(doc), this.#docs.textBytesOf(doc));
  }

  #column(name: string): Column | undefined {
    return this.#docs.builtIn(name) ?? this.#fields.get(name)?.column;
  }

  #order(name: string, isDescending: boolean, scores: Uint32Array | null): Order {
    if (name === '_score') return new ScoreOrder(scores, isDescending);
    return this.#column(name)?.order(isDescending) ?? absentOrder;
  }

  #isLong(name: string): boolean {
    return this.#docs.builtIn(name) === undefined && this.#fields.get(name)?.traits.kind === 'long';
  }

  #facets({ facets }: CheckedQuery, hits: Hits, scratch: Scratch, groupsMax: number): Maybe<FacetGroups[]> {
    if (facets.length === 0) return [];
    return mapInTurn(facets, ({ field, size, isValid }) =>
      isValid ? this.#countFacet(field, hits, scratch, Math.max(size, groupsMax)) : noGroups,
    );
  }

  #countFacet(name: string, { count }: Hits, scratch: Scratch, limit: number): Maybe<FacetGroups> {
    return chain(this.#facetCodes(name), (codes) => {
      if (codes === null) return noGroups;
      pace.enter('facets', name);
      return countGroups(codes, scratch.hits, count, scratch.tally, limit, this.#isLong(name));
    });
  }

  #facetCodes(name: string): Maybe<CodeColumn | null> {
    const builtIn = this.#docs.facetCodes(name);
    if (builtIn !== null) return builtIn;
    const field = this.#fields.get(name);
    if (field === undefined || !isFacetable(field.traits)) return null;
    pace.enter('shared');
    return field.facetCodes(this.#docs.docCount, (doc) => {
      pace.units += parseUnits * this.#docs.textBytesOf(doc).length;
      return this.#docs.fieldsOf(doc)[name] ?? null;
    });
  }
}

/** The docs that match are the first `count` of `scratch.hits`; `found` are those that have a score to be set back. */
interface Hits {
  readonly count: number;
  readonly found: Int32Array;
  readonly foundCount: number;
}

class ShardRow implements Row {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  readonly fieldsBytes: Buffer;

  constructor(place: RowPlace, score: number, updatedAtMs: number, fieldsBytes: Buffer) {
    this.place = place;
    this.score = score;
    this.updatedAtMs = updatedAtMs;
    this.fieldsBytes = fieldsBytes;
  }

  get fieldsText(): string {
    return this.fieldsBytes.toString();
  }

  get fields(): JsonObject {
    return JSON.parse(this.fieldsText) as JsonObject;
  }
}
