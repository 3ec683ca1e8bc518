import { assert } from '../../lib/assert.ts';
import { chain, type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { type CheckedFacet, type CheckedQuery, populationsOf } from '../checked-query.ts';
import type { CodeColumn } from '../columns/code-column.ts';
import type { CodeTally } from '../columns/code-tally.ts';
import { countAll, countGroups, countValues, type FacetScope } from '../facets/facet.ts';
import { countNumbers, isByValue } from '../facets/number-facet.ts';
import { isFacetable } from '../fields/field-type.ts';
import { fieldValue } from '../fields/paths.ts';
import { current } from '../phase.ts';
import type { Scratch } from '../scratch.ts';
import type { FacetGroup, FacetGroups } from '../shard-answer.ts';
import { type Reduction, reduced } from './distinct.ts';
import { type DocHits, type Hits, hitsBeside } from './hits.ts';
import type { Tables } from './tables.ts';

/** The cost of parsing a byte of JSON text, in units of the work budget. */
const unitsPerByte = 5;

export const noGroups: FacetGroups = { groups: [] };

/** The input of the facets of a query. */
export interface FacetSight {
  readonly query: CheckedQuery;
  readonly tables: Tables;
  readonly scratch: Scratch;
  readonly hits: Hits;
  /** The hits after `distinct`. */
  readonly left: DocHits;
  /** Null without `distinct`. */
  readonly reduction: Reduction | null;
}

/** The groups of each facet of the query. @param groupsMax number of groups to return if a facet requests fewer */
export function* facetsOf(sight: FacetSight, groupsMax: number): Steps<FacetGroups[]> {
  const { query, tables, scratch } = sight;
  const facets: FacetGroups[] = query.facets.map(() => noGroups);
  for (const [populationIndex, { facetIndexes }] of populationsOf(query).entries()) {
    if (facetIndexes.length === 0) continue;
    const docs = yield* docsOf(sight, populationIndex);
    // Facets on one field are counted once.
    const byField = new Map<string, FacetGroups>();
    for (const at of facetIndexes) {
      const facet = query.facets[at];
      assert(facet !== undefined, 'a population has facets of its query');
      const { field, size, numbers } = facet;
      const known = numbers === undefined ? byField.get(field) : undefined;
      const limit = Math.max(largestSize(query, field), groupsMax);
      const counted = known ?? (yield* facetOf(facet, tables, scratch.tally, docs, limit));
      if (numbers === undefined) byField.set(field, counted);
      facets[at] = firstGroups(counted, Math.max(size, groupsMax));
      if (workBudget.isOver()) yield;
    }
  }
  return facets;
}

function largestSize({ facets }: CheckedQuery, field: string): number {
  return facets.reduce((size, facet) => (facet.field === field ? Math.max(size, facet.size) : size), 0);
}

function firstGroups(counted: FacetGroups, limit: number): FacetGroups {
  if (counted.groups.length <= limit) return counted;
  const groups = counted.groups.slice(0, limit);
  return { ...counted, groups, restMax: groups.at(-1)?.count ?? 0 };
}

/** The docs that the facets of a population count. */
function* docsOf(
  { query, tables, hits, left, reduction }: FacetSight,
  populationIndex: number,
): Steps<DocHits> {
  const isReduced = reduction?.distinct.isForFacets === true;
  if (populationIndex === 0) return isReduced ? left : hits;
  const { filter } = populationsOf(query)[populationIndex] ?? query;
  const docs = yield* hitsBeside(filter, tables, hits);
  return reduction !== null && isReduced ? yield* reduced(reduction, docs, populationIndex) : docs;
}

function* facetOf(
  facet: CheckedFacet,
  tables: Tables,
  tally: CodeTally,
  hits: DocHits,
  limit: number,
): Steps<FacetGroups> {
  const { field, numbers } = facet;
  const codes = isByValue(facet) ? yield* codesOf(field, tables) : null;
  current.enter('facets', field);
  const groups =
    codes === null ? noGroups : yield* countGroups(scopeOf(field, codes, tables, hits, tally), limit);
  if (numbers === undefined) return groups;
  return { ...groups, ...(yield* countNumbers(numbers, tables.column(field), hits.docs, hits.count)) };
}

/** Exact counts of the given values of a facet's field, or of all (null), unordered. */
export function* groupsOf(
  sight: FacetSight,
  facetIndex: number,
  values: readonly FacetGroup['value'][] | null,
): Steps<FacetGroups> {
  const { query, tables, scratch } = sight;
  const field = query.facets[facetIndex]?.field ?? '';
  const populationIndex = populationsOf(query).findIndex(({ facetIndexes }) =>
    facetIndexes.includes(facetIndex),
  );
  const codes = populationIndex < 0 ? null : yield* codesOf(field, tables);
  if (codes === null) return noGroups;
  const docs = yield* docsOf(sight, populationIndex);
  current.enter('facets', field);
  const scope = scopeOf(field, codes, tables, docs, scratch.tally);
  const groups = yield* values === null ? countAll(scope) : countValues(scope, values);
  return { groups, ...(scope.scale === undefined ? {} : { scale: scope.scale }) };
}

function scopeOf(
  field: string,
  codes: CodeColumn,
  tables: Tables,
  { docs, count }: DocHits,
  tally: CodeTally,
): FacetScope {
  const scale = tables.scaleOf(field);
  const hasMixedDates = scale === 'date' && tables.fields.get(field)?.hasMixedDates === true;
  return { codes, scale, hasMixedDates, docs, docCount: count, tally };
}

/** The codes of a field; null if the shard has no such field or the field has no facets. */
function* codesOf(name: string, { docs, fields }: Tables): Steps<CodeColumn | null> {
  const codes = docs.facetCodes(name);
  const field = fields.get(name);
  if (codes !== null || field === undefined || !isFacetable(field.traits)) return codes;
  current.enter('shared');
  return yield* field.facetCodes(docs.docCount, (doc) => {
    workBudget.units += unitsPerByte * docs.textBytesOf(doc).length;
    return chain(docs.readFields(doc), (values) => fieldValue(values, name, field.type));
  });
}
