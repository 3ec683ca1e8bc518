import type { JsonObject } from '../../contract/json.ts';
import { offsetWindowMax, pageSizeDefault } from '../../contract/limits.ts';
import { paginationShape } from '../../contract/shapes-query.ts';
import { isSent, readerOf } from './members.ts';
import type { Mistakes } from './mistakes.ts';

const readPagination = readerOf(paginationShape, 'near');

export interface CheckedPagination {
  readonly offset: number;
  readonly pageSize: number;
  readonly nextPageToken: string | null;
}

/** The mistake of a token that was made for another query (docs/reference/indexes-and-queries.md "Paging"). */
export const invalidNextPageToken = 'Invalid nextPageToken';

const firstPage: CheckedPagination = { offset: 0, pageSize: pageSizeDefault, nextPageToken: null };

/** `page` is ignored beside a token, and then there is no depth limit (docs/reference/indexes-and-queries.md "Paging"). */
export function checkPagination(sent: JsonObject | null, mistakes: Mistakes): CheckedPagination {
  if (sent === null) return firstPage;
  const counted = isSent(sent, 'nextPageToken') ? { ...sent, page: 0 } : sent;
  const { page, pageSize, nextPageToken } = readPagination(counted, 'pagination', mistakes) ?? {};
  const size = pageSize ?? pageSizeDefault;
  return {
    offset: checkOffset(page ?? 0, size, mistakes),
    pageSize: size,
    nextPageToken: nextPageToken ?? null,
  };
}

function checkOffset(page: number, pageSize: number, mistakes: Mistakes): number {
  const end = page * pageSize + pageSize;
  if (end > offsetWindowMax) {
    const advice = `at most ${offsetWindowMax} items can be reached by page, use nextPageToken beyond`;
    mistakes.add('pagination', `page ${page} of ${pageSize} items ends at item ${end}; ${advice}`);
  }
  return page * pageSize;
}
