/**
 * The response to a query as JSON text (docs/reference/indexes-and-queries.md "The answer"). It is written once: by a worker
 * that has all partitions, or by the front that merges the rows of several workers.
 */

import { queryPageUnitsMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import { mergedNumbers } from '../../search/facets/number-facet.ts';
import type { MergedFacet } from '../../search/merge-answers.ts';
import type { FacetGroup, FacetGroups } from '../../search/shard-answer.ts';
import { type RowText, writeRow } from './row-text.ts';

/** Beginning of every result. `status` is not the HTTP status: 0 means that the query is valid. */
const head = '{"status":0,';
const commaByte = 0x2c;
const comma = Buffer.of(commaByte);
const openingBracket = Buffer.from('[');
const closingBracket = Buffer.from(']');

/** The members after the rows. */
export interface ResultTail {
  readonly facets: readonly MergedFacet[];
  readonly nextPageToken: string | null;
}

/** @param rows JSON texts of rows, each in one or more pieces */
export function resultText(
  totalResults: number,
  rows: readonly (readonly Uint8Array[])[],
  { facets, nextPageToken }: ResultTail,
): Buffer {
  const { beginning, end } = around(totalResults, { facetsText: JSON.stringify(facets), nextPageToken });
  const pieces: Uint8Array[] = [Buffer.from(beginning)];
  for (const row of rows) {
    if (pieces.length > 1) pieces.push(comma);
    for (const piece of row) pieces.push(piece);
  }
  pieces.push(Buffer.from(end));
  return Buffer.concat(pieces);
}

interface TailText {
  readonly facetsText: string;
  readonly nextPageToken: string | null;
}

/** The text before and after the rows. */
function around(
  totalResults: number,
  { facetsText, nextPageToken }: TailText,
): Record<'beginning' | 'end', string> {
  const token = nextPageToken === null ? 'null' : `"${nextPageToken}"`;
  return {
    beginning: `${head}"totalResults":${totalResults},"results":[`,
    end: `],"facets":${facetsText},"nextPageToken":${token}}`,
  };
}

/** As `resultText`, from rows and from facets as JSON text, without copying the rows twice. */
export function resultOfRows(totalResults: number, rows: readonly RowText[], tail: TailText): Buffer {
  const { beginning, end } = around(totalResults, tail);
  const aroundBytes = beginning.length + Math.max(0, rows.length - 1) + Buffer.byteLength(end);
  const result = Buffer.allocUnsafe(rows.reduce((sum, { bytes }) => sum + bytes, aroundBytes));
  let at = result.write(beginning);
  for (const row of rows) {
    at = writeRow(result, at, row);
    result[at] = commaByte;
    at += 1;
  }
  if (rows.length > 0) at -= 1;
  at += result.write(end, at);
  assert(at === result.length, 'a result has no byte that was not written');
  return result;
}

/** A result with labels inserted after its status. @param labels at least one */
export function labelledResult(
  result: Uint8Array,
  labels: Readonly<Record<string, string | null>>,
): Uint8Array {
  const members = JSON.stringify(labels).slice(1, -1);
  return Buffer.concat([Buffer.from(`${head}${members},`), result.subarray(head.length)]);
}

/** A JSON list of JSON texts. */
export function listText(texts: readonly Uint8Array[]): Buffer {
  const pieces = texts.flatMap((text, at) => (at === 0 ? [text] : [comma, text]));
  return Buffer.concat([openingBracket, ...pieces, closingBracket]);
}

/** The facets of an answer whose counts include all items. */
export function facetsOf(query: CheckedQuery, groupsOf: readonly FacetGroups[]): MergedFacet[] {
  return query.facets.map((facet, at) => {
    const { name, field, size, isValid } = facet;
    if (!isValid) return { name, field, groups: [], isValid };
    const counted = groupsOf[at] ?? { groups: [] };
    const { groups: ofNumbers, ...stats } = mergedNumbers(facet, [counted]);
    const groups = ofNumbers ?? counted.groups.slice(0, size);
    return { name, field, groups, isValid, ...stats };
  });
}

/** The remaining size for a page and its facets, in UTF-16 units of JSON text. */
export class SizeBudget {
  #left = queryPageUnitsMax;

  /** True if more was taken than allowed. */
  get isExceeded(): boolean {
    return this.#left < 0;
  }

  /** @returns false if the budget is exceeded */
  take(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}

/** Approximate size of a group besides a string value. */
const unitsPerGroup = 40;
/** Groups up to this size are written in one step. */
const unitsAtOnce = 65_536;

/** Approximate size of the groups as JSON text, in UTF-16 units. */
function unitsOf(groups: readonly FacetGroup[]): number {
  let units = unitsPerGroup * groups.length;
  for (let at = 0; at < groups.length; at += 1) {
    const value = groups[at]?.value;
    if (typeof value === 'string') units += value.length;
  }
  return units;
}

/** JSON text of groups; null if the budget is exceeded. */
function* groupsText(groups: readonly FacetGroup[], budget: SizeBudget): Steps<string | null> {
  if (unitsOf(groups) <= unitsAtOnce) {
    const text = JSON.stringify(groups);
    return budget.take(text.length) ? text : null;
  }
  const texts: string[] = [];
  for (const group of groups) {
    const text = JSON.stringify(group);
    workBudget.units += unitsPerGroup + text.length;
    if (!budget.take(text.length + 1)) return null;
    texts.push(text);
    if (workBudget.isOver()) yield;
  }
  return `[${texts.join()}]`;
}

/** Facets as JSON; null if the budget is exceeded. A value may have megabytes, so it is checked meanwhile, in steps. */
export function* facetsTextOf(facets: readonly MergedFacet[], budget: SizeBudget): Steps<string | null> {
  const texts: string[] = [];
  for (const { name, field, groups, isValid, stats } of facets) {
    const text = yield* groupsText(groups, budget);
    if (text === null) return null;
    const statsText = stats === undefined ? '' : `,"stats":${JSON.stringify(stats)}`;
    texts.push(
      `{"name":${JSON.stringify(name)},"field":${JSON.stringify(field)},"groups":${text},"isValid":${isValid}${statsText}}`,
    );
  }
  return `[${texts.join()}]`;
}

/**
 * Groups of one of several workers, for the merge; null if the requested ones exceed the budget. The worker also sends further
 * groups while they are short, so that the merge needs a second round less often.
 * @param sizeOf number of requested groups, by the index of the facet
 */
export function* groupsTexts(
  facets: readonly FacetGroups[],
  sizeOf: (at: number) => number,
  budget: SizeBudget,
): Steps<string | null> {
  const texts: string[] = [];
  for (const [at, facet] of facets.entries()) {
    const { groups, ...others } = withoutLongRest(facet, sizeOf(at));
    const text = yield* groupsText(groups, budget);
    if (text === null) return null;
    const otherTexts = JSON.stringify(others).slice(1);
    texts.push(`{"groups":${text}${otherTexts === '}' ? '' : ','}${otherTexts}`);
  }
  return `[${texts.join()}]`;
}

function withoutLongRest(facet: FacetGroups, size: number): FacetGroups {
  const { groups } = facet;
  if (groups.length <= size || unitsOf(groups) <= unitsAtOnce) return facet;
  let units = 0;
  let kept = 0;
  for (; kept < groups.length; kept += 1) {
    units += unitsOf(groups.slice(kept, kept + 1));
    if (kept >= size && units > unitsAtOnce) break;
  }
  return kept === groups.length
    ? facet
    : { ...facet, groups: groups.slice(0, kept), restMax: groups[kept]?.count ?? 0 };
}
