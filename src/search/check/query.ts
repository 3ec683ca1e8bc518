/** Checks a query: paging, `distinct`, `fields` and `aliases` here, larger members in separate files. */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import { offsetWindowMax, pageSizeDefault } from '../../contract/limits.ts';
import { reservedFields } from '../../contract/query-names.ts';
import {
  autoQueryBodyShape,
  labelMemberNames,
  paginationShape,
  queryBodyShape,
  sortKeyShape,
} from '../../contract/shapes-query.ts';
import type { CheckedDistinct, CheckedQuery, SortKey } from '../checked-query.ts';
import { type FieldTable, isDistinguishable, isSortable, meaningOf } from '../fields/field-type.ts';
import { checkFacets } from './facets.ts';
import { checkFilter } from './filter.ts';
import { checkOrigin, isOfPlaces } from './geo.ts';
import { isSent, type Members, readerOf } from './members.ts';
import { describeField, distinctTexts, namedField, QueryErrors, quote } from './query-errors.ts';
import { checkHighlight, checkSearch, searchIdentity } from './search.ts';

const readQuery = readerOf(queryBodyShape, 'near', labelMemberNames);
const readGroupQuery = readerOf(autoQueryBodyShape, 'near', labelMemberNames);
const readPagination = readerOf(paginationShape, 'near');

export interface QueryRules extends FieldTable {
  /** True if the alias is that of a full schema. Null if `aliases` is not supported and ignored like any unknown key. */
  readonly isSchemaAlias: ((alias: string) => boolean) | null;
}

export type QueryCheck =
  | {
      readonly ok: true;
      /** `after` is null: the caller sets it from the token. `offset` is 0 if there is a token. */
      readonly query: CheckedQuery;
      /** Distinct aliases; null if the query has none. */
      readonly aliases: readonly string[] | null;
      /** The unverified token. */
      readonly nextPageToken: string | null;
    }
  | { readonly ok: false; readonly errors: readonly string[] };

/**
 * Checks a query object (docs/reference/indexes-and-queries.md "The query object"). Unknown keys are ignored unless they look
 * like a misspelling of a known one. Null means absent.
 * @returns the query with all defaults, or all errors, each beginning with its path
 */
export function checkQuery(body: Json, rules: QueryRules): QueryCheck {
  if (!isJsonObject(body)) return { ok: false, errors: [`query: must be an object, not ${quote(body)}`] };
  const errors = new QueryErrors();
  const read = rules.isSchemaAlias === null ? readGroupQuery : readQuery;
  const sent: Members<typeof queryBodyShape> = read(body, '', errors) ?? {};
  const filter = checkFilter(sent.filters ?? null, rules, errors);
  const search = sent.search ? checkSearch(sent.search, rules, errors) : null;
  const highlight = sent.highlight ? checkHighlight(sent.highlight, search, rules, errors) : null;
  const distinct = checkDistinct(sent.distinct ?? null, sent.distinctFacets ?? true, rules, errors);
  const facets = sent.facets ? checkFacets(sent.facets, rules, errors) : [];
  const sort = checkSort(sent.sort ?? [], search !== null, rules, errors);
  const pagination = checkPagination(sent.pagination ?? null, errors);
  const aliases = sent.aliases ? checkAliases(sent.aliases, rules, errors) : null;
  const fields = sent.fields ? checkFields(sent.fields, rules, errors) : null;
  const { offset, pageSize, nextPageToken } = pagination;
  // Tokens come from responses. A query with an error in these members cannot have had a response, so the token is from another
  // query; see `queryIdentity`.
  const isOfAnother = ['filters', 'search', 'sort', 'distinct'].some((member) => errors.isIn(member));
  if (isOfAnother && nextPageToken !== null) errors.texts.push(invalidNextPageToken);
  if (errors.texts.length > 0) return { ok: false, errors: errors.texts };
  const query: CheckedQuery = {
    filter,
    search,
    highlight,
    distinct,
    facets,
    sort,
    offset,
    pageSize,
    after: null,
    fields,
  };
  return { ok: true, query, aliases, nextPageToken };
}

/** The error for a token from another query (docs/reference/indexes-and-queries.md "Paging"). */
export const invalidNextPageToken = 'Invalid nextPageToken';

/** Equal for queries with the same filters, search, sort and distinct. A `nextPageToken` is valid for all of them. */
export function queryIdentity({ filter, search, sort, distinct }: CheckedQuery): string {
  const distinctField = distinct === null ? [] : [distinct.field];
  return canonicalJson([filter, search && searchIdentity(search), sort, ...distinctField]);
}

interface CheckedPagination {
  readonly offset: number;
  readonly pageSize: number;
  readonly nextPageToken: string | null;
}

const firstPage: CheckedPagination = { offset: 0, pageSize: pageSizeDefault, nextPageToken: null };

/** With a token, `page` is ignored and there is no depth limit (docs/reference/indexes-and-queries.md "Paging"). */
function checkPagination(sent: JsonObject | null, errors: QueryErrors): CheckedPagination {
  if (sent === null) return firstPage;
  const counted = isSent(sent, 'nextPageToken') ? { ...sent, page: 0 } : sent;
  const { page, pageSize, nextPageToken } = readPagination(counted, 'pagination', errors) ?? {};
  const size = pageSize ?? pageSizeDefault;
  return {
    offset: checkOffset(page ?? 0, size, errors),
    pageSize: size,
    nextPageToken: nextPageToken ?? null,
  };
}

function checkOffset(page: number, pageSize: number, errors: QueryErrors): number {
  const end = page * pageSize + pageSize;
  if (end > offsetWindowMax) {
    const advice = `at most ${offsetWindowMax} items can be reached by page, use nextPageToken beyond`;
    errors.add('pagination', `page ${page} of ${pageSize} items ends at item ${end}; ${advice}`);
  }
  return page * pageSize;
}

/** Checks `distinct`; null if absent (docs/reference/indexes-and-queries.md "One item of each value"). */
function checkDistinct(
  field: string | null,
  isForFacets: boolean,
  table: FieldTable,
  errors: QueryErrors,
): CheckedDistinct | null {
  if (field === null) return null;
  const named = namedField(field, 'distinct', table, errors);
  if (named !== null && !(named.kind === 'field' && isDistinguishable(named.traits))) {
    const needed = 'needs a field of type keyword, text, a number, boolean or date';
    errors.add('distinct', `${needed}; ${quote(field)} is ${describeField(named)}`);
  }
  return { field, isForFacets, beaten: null };
}

/**
 * Distinct fields to return (docs/reference/indexes-and-queries.md "Choosing fields"). Built-in names may be listed, although
 * they are always returned.
 */
function checkFields(fields: readonly Json[], table: FieldTable, errors: QueryErrors): string[] {
  return distinctTexts(fields, 'fields', errors, (name, place) => {
    if (reservedFields.includes(name) || meaningOf(table, name).kind !== 'unknown') return true;
    errors.add(place, `the index has no field ${quote(name)}`);
    return false;
  });
}

function checkAliases(
  aliases: readonly Json[],
  { isSchemaAlias }: QueryRules,
  errors: QueryErrors,
): string[] | null {
  if (isSchemaAlias === null) return null;
  return distinctTexts(aliases, 'aliases', errors, (alias, place) => {
    if (isSchemaAlias(alias)) return true;
    errors.add(place, `no full schema has the alias ${quote(alias)}`);
    return false;
  });
}

const readKey = readerOf(sortKeyShape, 'near');

/**
 * The sort keys, at least one. The default is `_score` with a search and `_updatedAt` otherwise, descending. A repeated field
 * with the same order has no effect and is left out. With the other order it may have one, because lists are sorted by their
 * smallest or by their largest item.
 */
function checkSort(
  sort: readonly Json[],
  hasSearch: boolean,
  table: FieldTable,
  errors: QueryErrors,
): SortKey[] {
  const fallback: SortKey = { field: hasSearch ? '_score' : '_updatedAt', order: 'desc' };
  if (sort.length === 0) return [fallback];
  const keys = new Map<string, SortKey>();
  for (const [at, entry] of sort.entries()) {
    const key = checkKey(entry, `sort[${at}]`, table, errors);
    const name = `${key?.order} ${key?.field}`;
    if (key !== null && !keys.has(name)) keys.set(name, key);
  }
  checkNearOnce(sort, errors);
  return keys.size === 0 ? [fallback] : [...keys.values()];
}

/** Some clients send the order as a number. */
const numberedOrders = ['desc', 'asc'] as const;

function checkKey(sent: Json, place: string, table: FieldTable, errors: QueryErrors): SortKey | null {
  const key = readKey(sent, place, errors);
  if (key === null) return null;
  const { field, near = null, order: named } = key;
  if (typeof field !== 'string') return null;
  checkSortField(field, isSent(sent, 'near'), place, table, errors);
  const order = typeof named === 'number' ? numberedOrders[named] : (named ?? 'asc');
  if (near === null) {
    const collation = table.collations?.get(field);
    return collation === undefined ? { field, order } : { field, order, collation };
  }
  const origin = checkOrigin(near, `${place}.near`, errors);
  return origin && { field, order, near: origin };
}

function checkNearOnce(sort: readonly Json[], errors: QueryErrors): void {
  const [, second] = [...sort.keys()].filter((at) => isSent(sort[at], 'near'));
  if (second !== undefined) errors.add(`sort[${second}].near`, 'at most one key can sort by distance');
}

function checkSortField(
  field: string,
  isNear: boolean,
  place: string,
  table: FieldTable,
  errors: QueryErrors,
): void {
  const named = namedField(field, `${place}.field`, table, errors);
  if (named === null) return;
  if (isNear) {
    if (isOfPlaces(named)) return;
    const needed = 'needs a field of type geoPoint or geoPoint[]';
    errors.add(`${place}.near`, `${needed}; ${quote(field)} is ${describeField(named)}`);
    return;
  }
  if (named.kind !== 'field' || isSortable(named.traits)) return;
  const advice = isOfPlaces(named) ? '; add "near" to sort by distance' : '';
  errors.add(`${place}.field`, `${quote(field)} is of type ${named.type}, which cannot be sorted${advice}`);
}
