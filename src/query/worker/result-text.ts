/**
 * The answer to a query as JSON text (specification "Query result"): what clients get, written once, by the worker where
 * it has all partitions and by the front where several workers' rows are merged.
 */
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { FacetGroups } from '../../search/shard-answer.ts';
import { takeBytes } from '../protocol/slab.ts';
import type { QueryFacet } from '../query-service.ts';
import { asciiBytes, writeAscii, writeBytes } from './json-bytes.ts';
import { type RowPieces, writeRow } from './row-text.ts';

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
  const { facets, nextPageToken } = tail;
  pieces.push(Buffer.from(tailText(facets.length === 0 ? '[]' : JSON.stringify(facets), nextPageToken)));
  return Buffer.concat(pieces);
}

/** As `resultText`, of rows in pieces and facets as JSON text. @param rowBytes of all rows together */
export function resultOfPieces(
  totalResults: number,
  rows: readonly RowPieces[],
  rowBytes: number,
  { facetsText, nextPageToken }: { readonly facetsText: string; readonly nextPageToken: string | null },
): Buffer {
  const before = headText(totalResults);
  const behind = tailText(facetsText, nextPageToken);
  const commas = Math.max(0, rows.length - 1);
  const text = takeBytes(before.length + rowBytes + commas + Buffer.byteLength(behind));
  let end = writeAscii(before, text, 0);
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) break;
    if (at > 0) end = writeBytes(comma, text, end);
    end = writeRow(row, text, end);
  }
  text.write(behind, end);
  return text;
}

/**
 * The list of several results, each with members that are told of it alone, behind its status.
 * @param labels for each of them JSON text of an object with these members; null for none
 */
export function resultsText(results: readonly Uint8Array[], labels: readonly (string | null)[]): Buffer {
  const pieces: Uint8Array[] = [openingBracket];
  for (const [at, text] of results.entries()) {
    if (at > 0) pieces.push(comma);
    const members = labels[at]?.slice(1, -1) ?? '';
    if (members === '') pieces.push(text);
    else pieces.push(Buffer.from(`${head}${members},`), text.subarray(head.length));
  }
  pieces.push(closingBracket);
  return Buffer.concat(pieces);
}

/** The facets of an answer that has the groups of all items. */
export function facetsOf(query: CheckedQuery, groupsOf: readonly FacetGroups[]): QueryFacet[] {
  return query.facets.map(({ name, field, size, isValid }, at) => {
    const groups = groupsOf[at]?.groups ?? [];
    return { name, field, groups: groups.length > size ? groups.slice(0, size) : groups, isValid };
  });
}

const comma = asciiBytes(',');
const openingBracket = asciiBytes('[');
const closingBracket = asciiBytes(']');

function headText(totalResults: number): string {
  return `${head}"totalResults":${totalResults},"results":[`;
}

function tailText(facetsText: string, nextPageToken: string | null): string {
  const token = nextPageToken === null ? 'null' : `"${nextPageToken}"`;
  return `],"facets":${facetsText},"nextPageToken":${token}}`;
}
