import type { Json } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { offsetWindowMax, pageSizeDefault, pageSizeMax } from '../../contract/limits.ts';
import { paginationMemberNames } from '../../contract/shapes-query.ts';
import { checkNearMembers } from './members.ts';
import { type Mistakes, quote } from './mistakes.ts';

export interface CheckedPagination {
  readonly offset: number;
  readonly pageSize: number;
  readonly nextPageToken: string | null;
}

/** The mistake of a token that was made for another query (docs/reference/indexes-and-queries.md "Paging"). */
export const invalidNextPageToken = 'Invalid nextPageToken';

const firstPage: CheckedPagination = { offset: 0, pageSize: pageSizeDefault, nextPageToken: null };

/** `page` is ignored beside a token, and then there is no depth limit (docs/reference/indexes-and-queries.md "Paging"). */
export function checkPagination(pagination: Json, mistakes: Mistakes): CheckedPagination {
  if (pagination === null) return firstPage;
  if (!isJsonObject(pagination)) {
    mistakes.add('pagination', `must be {"page", "pageSize", "nextPageToken"}, not ${quote(pagination)}`);
    return firstPage;
  }
  checkNearMembers(pagination, paginationMemberNames, 'pagination.', mistakes);
  const token = getOwn(pagination, 'nextPageToken') ?? null;
  const pageSize = checkPageSize(getOwn(pagination, 'pageSize') ?? pageSizeDefault, mistakes);
  if (token !== null) {
    if (typeof token === 'string') return { offset: 0, pageSize, nextPageToken: token };
    mistakes.add('pagination.nextPageToken', `must be a string, not ${quote(token)}`);
    return firstPage;
  }
  const offset = checkOffset(getOwn(pagination, 'page') ?? 0, pageSize, mistakes);
  return { offset, pageSize, nextPageToken: null };
}

function checkPageSize(pageSize: Json, mistakes: Mistakes): number {
  if (isCount(pageSize) && pageSize <= pageSizeMax) return pageSize;
  mistakes.add(
    'pagination.pageSize',
    `must be a whole number from 0 to ${pageSizeMax}, not ${quote(pageSize)}`,
  );
  return pageSizeDefault;
}

function checkOffset(page: Json, pageSize: number, mistakes: Mistakes): number {
  if (!isCount(page)) {
    mistakes.add('pagination.page', `must be a whole number from 0, not ${quote(page)}`);
    return 0;
  }
  const end = page * pageSize + pageSize;
  if (end > offsetWindowMax) {
    const advice = `at most ${offsetWindowMax} items can be reached by page, use nextPageToken beyond`;
    mistakes.add('pagination', `page ${page} of ${pageSize} items ends at item ${end}; ${advice}`);
  }
  return page * pageSize;
}

function isCount(value: Json): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
