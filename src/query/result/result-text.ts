/**
 * The answer to a query as JSON text (docs/reference/indexes-and-queries.md "The answer"): what clients get, written once,
 * by the worker where it has all partitions and by the front where several workers' rows are merged.
 */
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { FacetGroups } from '../../search/shard-answer.ts';
import type { QueryFacet } from '../query-service.ts';

/** What every result begins with. */
const head = '{"status":200,';
const comma = Buffer.from(',');
const openingBracket = Buffer.from('[');
const closingBracket = Buffer.from(']');

/** What stands behind the rows. */
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

/** As `resultText`, of rows in pieces and facets as JSON text. */
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
