/**
 * The answer to a query as JSON text, as clients get it (docs/reference/indexes-and-queries.md "The answer"). It is
 * written once: by a worker that has all partitions, or by the front that merges the rows of several workers.
 */
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { FacetGroups } from '../../search/shard-answer.ts';
import type { QueryFacet } from '../query-service.ts';

/** Every result begins with it. */
const head = '{"status":200,';
const comma = Buffer.from(',');
const openingBracket = Buffer.from('[');
const closingBracket = Buffer.from(']');

/** The members behind the rows. */
export interface ResultTail {
  readonly facets: readonly QueryFacet[];
  readonly nextPageToken: string | null;
}

/** @param rows texts of rows */
export function resultText(
  totalResults: number,
  rows: readonly Uint8Array[],
  { facets, nextPageToken }: ResultTail,
): Buffer {
  const facetsText = JSON.stringify(facets);
  return resultOfPieces(
    totalResults,
    rows.map((row) => [row]),
    { facetsText, nextPageToken },
  );
}

/** As `resultText`, from rows in pieces and facets as JSON text. */
export function resultOfPieces(
  totalResults: number,
  rows: readonly (readonly Uint8Array[])[],
  { facetsText, nextPageToken }: { readonly facetsText: string; readonly nextPageToken: string | null },
): Buffer {
  const token = nextPageToken === null ? 'null' : `"${nextPageToken}"`;
  const pieces: Uint8Array[] = [Buffer.from(`${head}"totalResults":${totalResults},"results":[`)];
  for (const [at, row] of rows.entries()) {
    if (at > 0) pieces.push(comma);
    pieces.push(...row);
  }
  pieces.push(Buffer.from(`],"facets":${facetsText},"nextPageToken":${token}}`));
  return Buffer.concat(pieces);
}

/**
 * The list of several results. Each result has its own labels behind its status.
 * @param labels for each result JSON text of an object with its labels; null for none
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

/** The facets of an answer whose groups count all items. */
export function facetsOf(query: CheckedQuery, groupsOf: readonly FacetGroups[]): QueryFacet[] {
  return query.facets.map(({ name, field, size, isValid }, at) => {
    const groups = groupsOf[at]?.groups ?? [];
    return { name, field, groups: groups.length > size ? groups.slice(0, size) : groups, isValid };
  });
}
