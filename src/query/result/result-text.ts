/**
 * The response to a query as JSON text (docs/reference/indexes-and-queries.md "The answer"). It is written once: by a worker
 * that has all partitions, or by the front that merges the rows of several workers.
 */
import { assert } from '../../lib/assert.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import { mergedNumbers } from '../../search/facets/number-facet.ts';
import type { MergedFacet } from '../../search/merge-answers.ts';
import type { FacetGroups } from '../../search/shard-answer.ts';
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
