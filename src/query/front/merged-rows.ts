/** Merges the answers of several workers. Counts of facets and JSON texts of rows may need a second round. */

import { queryPageUnitsMax, querySliceMs } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { sum } from '../../lib/lists.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import { CountSum, type FacetNeed, sharedNeeds } from '../../search/facets/merge.ts';
import {
  comparePlaces,
  type FacetCounts,
  type MergedFacet,
  mergeAnswers,
  type PartialAnswer,
  withCounts,
} from '../../search/merge-answers.ts';
import type { SearchStats } from '../../search/search-stats.ts';
import type { FacetGroup, ShownRow } from '../../search/shard-answer.ts';
import { countsLength, decodeCounts, decodeTexts } from '../protocol/further-answers.ts';
import { decodeAnswer, facetsLength, type SentRow } from '../protocol/row-answer.ts';
import { facetsTooLarge, pageTooLarge, RefusedQueryError } from '../protocol/shard-reply.ts';
import { UnavailableError } from '../query-service.ts';
import { joinedRows, type RowForm, rowFormOf, rowText } from '../result/row-text.ts';
import type { MessageBody } from '../transport/messages.ts';
import { type AskWorkers, onlyAnswer } from './attempt.ts';

/** A worker's answer to one query. */
export interface FoundAnswer extends PartialAnswer<SentRow | ShownRow> {
  /** Statistics by which a worker with all items has scored; null otherwise. */
  readonly stats: SearchStats | null;
}

export interface MergedRow extends SentRow {
  readonly text: Buffer;
}

export interface MergedRows {
  readonly total: number;
  /** The rows of the page. */
  readonly rows: readonly MergedRow[];
  readonly facets: readonly MergedFacet[];
  /** Statistics by which the rows were scored; null without a search. */
  readonly stats: SearchStats | null;
}

/**
 * @param bodies from `encodeAnswer`
 * @throws RefusedQueryError
 */
export async function decodedAnswers(bodies: readonly MessageBody[]): Promise<FoundAnswer[]> {
  boundFacets(bodies.map(facetsLength));
  const slice = new Slice(querySliceMs);
  const decoded: FoundAnswer[] = [];
  for (const body of bodies) {
    decoded.push(decodeAnswer(body));
    if (slice.isOver) await slice.next();
  }
  return decoded;
}

/**
 * @param answers of a complete cover
 * @param index its name
 * @param deadlineMs on the clock of `performance.now()`
 * @returns null if a row of the page was changed or removed before its text was fetched
 * @throws RefusedQueryError, UnavailableError
 */
export async function mergedRows(
  ask: AskWorkers,
  { index, query }: { readonly index: string; readonly query: CheckedQuery },
  answers: readonly FoundAnswer[],
  deadlineMs: number,
): Promise<MergedRows | null> {
  const slice = new Slice(querySliceMs);
  // A worker that has all partitions does not send the rows before the page.
  const mergedQuery = answers.length === 1 ? { ...query, offset: 0 } : query;
  let merged = await slice.run(mergeAnswers(mergedQuery, answers));
  if (merged.needs.length > 0) {
    merged = withCounts(query, merged, await countedFacets(ask, query, merged.needs, slice));
  }
  const { total, facets } = merged;
  const form = rowFormOf(index, query);
  const rows = merged.rows.map((row) => ('fieldsBytes' in row ? writtenRow(row, form) : row));
  assertOrder(query, rows);
  boundPage(rows, facets);
  const whole = await withTexts(ask, form, query, rows);
  if (whole === null && performance.now() > deadlineMs)
    throw new UnavailableError('items change faster than they are read');
  // A worker that has all items may have scored by its own statistics.
  const stats = query.search?.stats ?? answers[0]?.stats ?? null;
  return whole && { total, rows: whole, facets, stats };
}

function assertOrder({ sort }: CheckedQuery, rows: readonly SentRow[]): void {
  for (const [at, { place }] of rows.entries()) {
    const before = rows[at - 1];
    if (before === undefined) continue;
    assert(comparePlaces(sort, before.place, place) < 0, 'rows of a page are in order, each once');
  }
}

/**
 * Checks the size of facets before they are parsed.
 * @throws RefusedQueryError if their total exceeds what a front should hold
 */
function boundFacets(lengths: readonly number[]): void {
  const length = sum(lengths);
  if (length > queryPageUnitsMax) throw new RefusedQueryError(facetsTooLarge);
}

/** @throws RefusedQueryError */
function boundPage(rows: readonly SentRow[], facets: readonly MergedFacet[]): void {
  const bytes = rows.reduce((sum, { textBytes }) => sum + textBytes, 0);
  if (bytes > queryPageUnitsMax) throw new RefusedQueryError(pageTooLarge);
  if (bytes + facetUnits(facets) > queryPageUnitsMax) throw new RefusedQueryError(facetsTooLarge);
}

/** UTF-16 units of the string values. */
function facetUnits(facets: readonly MergedFacet[]): number {
  let units = 0;
  for (const { groups } of facets) {
    for (const { value } of groups) if (typeof value === 'string') units += value.length;
  }
  return units;
}

function hasText(row: SentRow): row is MergedRow {
  return row.text !== null;
}

async function countedFacets(
  ask: AskWorkers,
  query: CheckedQuery,
  needs: readonly FacetNeed[],
  slice: Slice,
): Promise<FacetCounts> {
  const { asked, placeOf } = sharedNeeds(query, needs);
  const bodies = (await ask({ kind: 'counts', query, facets: asked })).map(onlyAnswer);
  boundFacets(bodies.map(countsLength));
  const sizeMax = Math.max(...query.facets.map(({ size }) => size));
  const counted: FacetGroup[][] = [];
  for (const needIndex of asked.keys()) {
    const sum = new CountSum();
    for (const body of bodies) {
      for (const { groups, scale } of decodeCounts(body, needIndex)) {
        sum.add(groups, scale);
        if (slice.isOver) await slice.next();
      }
    }
    counted.push(await slice.run(sum.first(sizeMax)));
  }
  return new Map(needs.map(({ facetIndex }) => [facetIndex, counted[placeOf.get(facetIndex) ?? 0] ?? []]));
}

/** Requests the texts that were not sent. @returns null if one of their rows is not as it was */
async function withTexts(
  ask: AskWorkers,
  form: RowForm,
  query: CheckedQuery,
  rows: readonly SentRow[],
): Promise<MergedRow[] | null> {
  const refs = rows.flatMap(({ text, digest, place: { sourceId, originId } }) => {
    return text === null ? [{ sourceId, originId, digest }] : [];
  });
  const replies = refs.length === 0 ? [] : await ask({ kind: 'texts', query, rows: refs });
  const ofWorkers = replies.map((reply) => decodeTexts(onlyAnswer(reply)));
  const whole: MergedRow[] = [];
  let at = 0;
  for (const row of rows) {
    if (hasText(row)) {
      whole.push(row);
      continue;
    }
    const fieldsBytes = ofWorkers.find((texts) => texts[at] != null)?.[at] ?? null;
    if (fieldsBytes === null) return null;
    whole.push(writtenRow({ ...row, fieldsBytes }, form));
    at += 1;
  }
  return whole;
}

function writtenRow(row: ShownRow, form: RowForm): MergedRow {
  const { place, score, updatedAtMs } = row;
  const text = joinedRows([rowText(row, form)]);
  return { place, score, updatedAtMs, textBytes: text.length, text, digest: null };
}
