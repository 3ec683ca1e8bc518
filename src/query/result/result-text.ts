/**
 * The answer to a query as JSON text, as clients get it (docs/reference/indexes-and-queries.md "The answer"). It is
 * written once: by a worker that has all partitions, or by the front that merges the rows of several workers.
 */
import type { CheckedQuery } from '../../search/checked-query.ts';
import { mergedNumbers } from '../../search/facets/number-facet.ts';
import type { FacetGroups } from '../../search/shard-answer.ts';
import type { QueryFacet } from '../query-service.ts';

/** Every result begins with it. `status` is a code of its own and not the HTTP status: 0 means that the query is good. */
const head = '{"status":0,';
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

/** A result with labels behind its status. @param labels at least one */
export function labelledResult(
  result: Uint8Array,
  labels: Readonly<Record<string, string | null>>,
): Uint8Array {
  const members = JSON.stringify(labels).slice(1, -1);
  return Buffer.concat([Buffer.from(`${head}${members},`), result.subarray(head.length)]);
}

/** The list of JSON texts. */
export function listText(texts: readonly Uint8Array[]): Buffer {
  const pieces = texts.flatMap((text, at) => (at === 0 ? [text] : [comma, text]));
  return Buffer.concat([openingBracket, ...pieces, closingBracket]);
}

/** The facets of an answer whose groups count all items. */
export function facetsOf(query: CheckedQuery, groupsOf: readonly FacetGroups[]): QueryFacet[] {
  return query.facets.map((facet, at) => {
    const { name, field, size, isValid } = facet;
    if (!isValid) return { name, field, groups: [], isValid };
    const counted = groupsOf[at] ?? { groups: [] };
    const { groups: ofNumbers, ...stats } = mergedNumbers(facet, [counted]);
    const groups = ofNumbers ?? counted.groups.slice(0, size);
    return { name, field, groups, isValid, ...stats };
  });
}
