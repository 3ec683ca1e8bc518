/** The answer of a worker that has all partitions. It is the whole result as clients get it, and the front passes it on. */
import { queryPageUnitsMax } from '../../contract/limits.ts';
import { chain, type Resumable } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { FacetGroups, RowPlace, ShownAnswer } from '../../search/shard-answer.ts';
import { facetsTextOf, SizeBudget } from '../result/facets-text.ts';
import { facetsOf, resultOfRows } from '../result/result-text.ts';
import { pageRows, rowFormOf } from '../result/row-text.ts';
import type { MessageBody } from '../transport/messages.ts';
import { encodeRefusal, facetsTooLarge, pageTooLarge } from './refusal.ts';

/**
 * Writes the result or its refusal, in steps.
 * @param seal makes the token of the page after a row
 */
export function encodeWholeAnswer(
  { total, rows, facets }: ShownAnswer,
  { index, query }: { readonly index: string; readonly query: CheckedQuery },
  seal: (last: RowPlace) => string,
): Resumable<MessageBody> {
  const sent = rows.slice(query.offset);
  return chain(pageRows(sent, rowFormOf(index, query), queryPageUnitsMax), (page) => {
    if (page === null) return encodeRefusal(pageTooLarge);
    return chain(facetsBeside(page.bytes, query, facets), (facetsText) => {
      if (facetsText === null) return encodeRefusal(facetsTooLarge);
      const last = sent.length === query.pageSize ? sent.at(-1) : undefined;
      const nextPageToken = last === undefined ? null : seal(last.place);
      return resultOfRows(total, page.texts, { facetsText, nextPageToken });
    });
  });
}

/** @returns null when there is no room for the facets beside the page */
function facetsBeside(
  pageBytes: number,
  query: CheckedQuery,
  facets: readonly FacetGroups[],
): Resumable<string | null> {
  const budget = new SizeBudget();
  budget.take(pageBytes);
  return facetsTextOf(facetsOf(query, facets), budget);
}

/** The result; null for a refusal, and for an answer that must be merged. */
export function decodeWholeAnswer(body: MessageBody): Buffer | null {
  if (!(body instanceof Uint8Array)) return null;
  return body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
