import type { Json, JsonObject } from '../contract/json.ts';
import { getOwn } from '../contract/json.ts';
import { Bitmap } from './bitmap.ts';
import type { CodeColumn } from './code-column.ts';
import { compareText } from './code-points.ts';
import type { Column } from './column.ts';
import { DocTable } from './doc-table.ts';
import { countGroups, countValues, facetGroupsPerShardMax } from './facet.ts';
import { Field } from './field.ts';
import { isFacetable } from './field-type.ts';
import { bindFilter } from './filter.ts';
import { sparseShare } from './matcher.ts';
import { absentOrder, type Order } from './order.ts';
import { ScoreOrder, scoreOf } from './score.ts';
import { Scratch } from './scratch.ts';
import { runSearch } from './search-run.ts';
import { Sweeper } from './sweeper.ts';
import { type Ranking, topDocs } from './top-docs.ts';
import type {
  CheckedQuery,
  FacetGroup,
  FacetGroups,
  FieldType,
  IndexItem,
  Row,
  RowPlace,
  ShardAnswer,
} from './types.ts';

/** Queries run one at a time in a process, so its shards share their buffers. */
const scratch = new Scratch();

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

  /** Puts an item, in place of the one with the same ids. */
  upsert(item: IndexItem): void {
    const fieldsText = item.fieldsText ?? JSON.stringify(item.fields);
    const before = this.#docs.find(item.sourceId, item.originId);
    if (before >= 0 && this.#docs.textOf(before) === fieldsText) {
      this.#docs.touch(before, item.partition, item.updatedAtMs);
      return;
    }
    if (before >= 0) this.#retire(before);
    const doc = this.#docs.add(item, fieldsText);
    for (const name of Object.keys(item.fields)) {
      const field = this.#fields.get(name);
      if (field === undefined) this.#hasUnknownField = true;
      else this.#setField(doc, field, item.fields[name]);
    }
    this.#sweeper.step(this.size);
  }

  /** JSON text of an item's fields in UTF-8, not to be changed; null when it is not here. */
  fieldsBytesOf(sourceId: string, originId: string): Buffer | null {
    const doc = this.#docs.find(sourceId, originId);
    return doc < 0 ? null : this.#docs.textBytesOf(doc);
  }

  /** Removes an item; true when there was one. */
  remove(sourceId: string, originId: string): boolean {
    const doc = this.#docs.find(sourceId, originId);
    if (doc < 0) return false;
    this.#retire(doc);
    this.#sweeper.step(this.size);
    return true;
  }

  /** Removes every item of a partition; takes time with the number of items. */
  dropPartition(partition: number): void {
    for (const doc of this.#docs.all()) if (this.#docs.partitionOf(doc) === partition) this.#retire(doc);
    this.#sweeper.finishIfMostlyDead(this.size);
  }

  /**
   * Answers a query over the items here.
   * @param facetGroupsMax groups of a facet to answer with, at least as many as asked for; fewer make it likelier that `facetCounts` must be asked
   */
  query(query: CheckedQuery, facetGroupsMax: number = facetGroupsPerShardMax): ShardAnswer {
    return this.#withHits(query, (count) => {
      // Facets first: they read the hits, which the page leaves in place.
      const facets = query.facets.map(({ field, size, isValid }) =>
        isValid ? this.#countFacet(field, count, Math.max(size, facetGroupsMax)) : noGroups,
      );
      return { total: count, rows: this.#page(query, count), facets };
    });
  }

  /**
   * The second question of a facet, see `mergeAnswers`: exact counts of the given values, or of all groups (null).
   * Values that no item has are left out.
   */
  facetCounts(
    query: CheckedQuery,
    facetIndex: number,
    values: readonly FacetGroup['value'][] | null,
  ): FacetGroups {
    const facet = query.facets[facetIndex];
    if (facet === undefined || !facet.isValid) return noGroups;
    return this.#withHits(query, (count) => {
      if (values === null) return this.#countFacet(facet.field, count, Number.MAX_SAFE_INTEGER);
      const codes = this.#facetCodes(facet.field);
      if (codes === null) return noGroups;
      const groups = countValues(codes, scratch.hits, count, scratch.tally, values);
      return { groups, ...(this.#isLong(facet.field) ? { isLong: true } : {}) };
    });
  }

  #setField(doc: number, field: Field, value: Json | undefined): void {
    if (value === undefined || value === null) return;
    if (field.set(doc, value, this.#docs.capacity)) this.#docs.markIndexed(doc);
  }

  #retire(doc: number): void {
    for (const field of this.#fields.values()) field.clear(doc);
    const isIndexed = this.#docs.retire(doc);
    if (isIndexed) this.#sweeper.bury(doc);
    else this.#docs.free(doc);
  }

  /** Runs `use` while `scratch.hits` holds the docs that match, and the scores are set. */
  #withHits<T>(query: CheckedQuery, use: (count: number) => T): T {
    scratch.reserve(this.#docs.capacity);
    const count = query.search === null ? this.#filtered(query) : this.#searched(query);
    try {
      return use(count);
    } finally {
      if (query.search !== null) scratch.clearScores(count);
    }
  }

  #filtered({ filter }: CheckedQuery): number {
    const { live, docCount } = this.#docs;
    if (filter === null) return live.list(scratch.hits);
    const matcher = bindFilter(filter, { live, column: (name) => this.#column(name) });
    const { few } = matcher;
    if (few !== null && few.count * sparseShare < docCount) {
      const count = few.list(scratch.hits);
      return few.rest === null ? count : keepListed(count, few.rest);
    }
    const matching = new Bitmap(docCount);
    matcher.scan(matching, docCount);
    return matching.list(scratch.hits);
  }

  #searched({ filter, search }: CheckedQuery): number {
    const text = search === null ? null : (this.#fields.get(search.field)?.text ?? null);
    if (text === null || search === null) return 0;
    const { live, docCount } = this.#docs;
    const found = runSearch(text, search, live, scratch);
    if (filter === null || found === 0) return found;
    const matcher = bindFilter(filter, { live, column: (name) => this.#column(name) });
    if (found * sparseShare < docCount) return keepHits(found, (doc) => matcher.test(doc));
    const matching = new Bitmap(docCount);
    matcher.scan(matching, docCount);
    return keepHits(found, (doc) => matching.has(doc));
  }

  #page(query: CheckedQuery, count: number): Row[] {
    const { sort, search, offset, pageSize, after } = query;
    const scores = search === null ? null : scratch.scores;
    const ranking: Ranking = {
      orders: sort.map(({ field, order }) => this.#order(field, order === 'desc', scores)),
      compareIds: (a, b) => this.#docs.compareIds(a, b),
      compareIdsTo: (doc, place) =>
        compareText(this.#docs.originIdOf(doc), place.originId) ||
        compareText(this.#docs.sourceIdOf(doc), place.sourceId),
    };
    const limit = pageSize === 0 ? 0 : offset + pageSize;
    const docs = topDocs(ranking, scratch.hits, scratch.keys, count, limit, after);
    const rows: Row[] = [];
    for (let at = 0; at < docs.length; at += 1) rows.push(this.#row(docs[at] ?? 0, ranking.orders, scores));
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

  #countFacet(name: string, count: number, limit: number): FacetGroups {
    const codes = this.#facetCodes(name);
    if (codes === null) return noGroups;
    return countGroups(codes, scratch.hits, count, scratch.tally, limit, this.#isLong(name));
  }

  #facetCodes(name: string): CodeColumn | null {
    const builtIn = this.#docs.facetCodes(name);
    if (builtIn !== null) return builtIn;
    const field = this.#fields.get(name);
    if (field === undefined || !isFacetable(field.traits)) return null;
    const { docCount } = this.#docs;
    return (
      field.facetCodes ?? field.buildFacetCodes(docCount, (doc) => this.#docs.fieldsOf(doc)[name] ?? null)
    );
  }
}

/** Keeps the hits that pass, in their order. */
function keepListed(count: number, passes: (doc: number) => boolean): number {
  const { hits } = scratch;
  let kept = 0;
  for (let at = 0; at < count; at += 1) {
    const doc = hits[at] ?? 0;
    if (!passes(doc)) continue;
    hits[kept] = doc;
    kept += 1;
  }
  return kept;
}

/** As `keepListed`, of hits that have scores: those of the others are set back. */
function keepHits(count: number, passes: (doc: number) => boolean): number {
  const { hits, scores, stamps } = scratch;
  let kept = 0;
  for (let at = 0; at < count; at += 1) {
    const doc = hits[at] ?? 0;
    if (passes(doc)) {
      hits[kept] = doc;
      kept += 1;
    } else {
      scores[doc] = 0;
      stamps[doc] = 0;
    }
  }
  return kept;
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
