/**
 * The answer to a query as JSON text (specification "Query result"): what clients get, written once, by the worker where
 * it has all partitions and by the front where several workers' rows are merged.
 */
import type { CheckedQuery, FacetGroups } from '../search/types.ts';
import { writeAscii, writeBytes } from './json-bytes.ts';
import { type RowParts, rowBytesMax, writeRow } from './row-text.ts';
import { keepFirst, takeBytes } from './slab.ts';
import type { QueryFacet } from './types.ts';

/** What every result begins with. */
const head = '{"status":200,';

/** What stands behind the rows. */
export interface ResultTail {
  readonly facets: readonly QueryFacet[];
  readonly nextPageToken: string | null;
}

/** @param rows texts of rows */
export function resultText(totalResults: number, rows: readonly Uint8Array[], tail: ResultTail): Buffer {
  const pieces: Uint8Array[] = [Buffer.from(headText(totalResults))];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) break;
    if (at > 0) pieces.push(comma);
    pieces.push(row);
  }
  pieces.push(Buffer.from(tailText(tail)));
  return Buffer.concat(pieces);
}

/** As `resultText`, of rows that are not written yet. */
export function writeResult(totalResults: number, rows: readonly RowParts[], tail: ResultTail): Buffer {
  const before = headText(totalResults);
  const behind = tailText(tail);
  let bytesMax = before.length + Buffer.byteLength(behind);
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row !== undefined) bytesMax += rowBytesMax(row) + comma.length;
  }
  const text = takeBytes(bytesMax);
  let end = writeAscii(before, text, 0);
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) break;
    if (at > 0) end = writeBytes(comma, text, end);
    end = writeRow(row, text, end);
  }
  end += text.write(behind, end);
  return keepFirst(text, end);
}

/** A result with members that are told of this one alone, behind its status. @param labels an object's JSON text */
export function labelled(text: Buffer, labels: string): Buffer {
  return Buffer.concat([
    Buffer.from(head),
    Buffer.from(labels.slice(1, -1)),
    comma,
    text.subarray(head.length),
  ]);
}

/** The facets of an answer that has the groups of all items. */
export function facetsOf(query: CheckedQuery, groupsOf: readonly FacetGroups[]): QueryFacet[] {
  return query.facets.map(({ name, field, size, isValid }, at) => {
    const groups = groupsOf[at]?.groups ?? [];
    return { name, field, groups: groups.length > size ? groups.slice(0, size) : groups, isValid };
  });
}

const comma = Buffer.from(',');

function headText(totalResults: number): string {
  return `${head}"totalResults":${totalResults},"results":[`;
}

function tailText({ facets, nextPageToken }: ResultTail): string {
  const token = nextPageToken === null ? 'null' : `"${nextPageToken}"`;
  return `],"facets":${facets.length === 0 ? '[]' : JSON.stringify(facets)},"nextPageToken":${token}}`;
}
