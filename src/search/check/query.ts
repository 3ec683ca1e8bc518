import { canonicalJson, isJsonObject, type Json } from '../../contract/json.ts';
import { autoQueryBodyShape, labelMemberNames, queryBodyShape } from '../../contract/shapes-query.ts';
import type { CheckedQuery } from '../checked-query.ts';
import type { FieldTable } from '../fields/field-table.ts';
import { checkDistinct } from './distinct.ts';
import { checkFacets } from './facets.ts';
import { checkFields } from './fields.ts';
import { checkFilter } from './filter.ts';
import { checkHighlight } from './highlight.ts';
import { type Members, readerOf } from './members.ts';
import { Mistakes, quote } from './mistakes.ts';
import { checkPagination, invalidNextPageToken } from './pagination.ts';
import { checkSearch, searchIdentity } from './search.ts';
import { checkSort } from './sort.ts';

const readQuery = readerOf(queryBodyShape, 'near', labelMemberNames);
const readGroupQuery = readerOf(autoQueryBodyShape, 'near', labelMemberNames);

export interface QueryRules extends FieldTable {
  /**
   * True when an alias names a full schema. Null where `aliases` is not supported: it is then ignored like any unknown
   * key.
   */
  readonly isSchemaAlias: ((alias: string) => boolean) | null;
}

export type QueryCheck =
  | {
      readonly ok: true;
      /** `after` is null: the caller fills in the place of the token. `offset` is 0 when there is a token. */
      readonly query: CheckedQuery;
      /** Aliases without repetition; null when the query asks for none. */
      readonly aliases: readonly string[] | null;
      /** The token as it was sent. It is not verified. */
      readonly nextPageToken: string | null;
    }
  | { readonly ok: false; readonly errors: readonly string[] };

/**
 * Checks a query object as it was sent (docs/reference/indexes-and-queries.md "The query object"). Unknown keys are
 * ignored unless they look like a misspelling of a known one, and null means absent.
 * @returns the query with every default filled in, or every mistake. The text of a mistake begins with its place
 */
export function checkQuery(body: Json, rules: QueryRules): QueryCheck {
  if (!isJsonObject(body)) return { ok: false, errors: [`query: must be an object, not ${quote(body)}`] };
  const mistakes = new Mistakes();
  const read = rules.isSchemaAlias === null ? readGroupQuery : readQuery;
  const sent: Members<typeof queryBodyShape> = read(body, '', mistakes) ?? {};
  const filter = checkFilter(sent.filters ?? null, rules, mistakes);
  const search = sent.search ? checkSearch(sent.search, rules, mistakes) : null;
  const highlight = sent.highlight ? checkHighlight(sent.highlight, search, rules, mistakes) : null;
  const distinct = checkDistinct(sent.distinct ?? null, sent.distinctFacets ?? true, rules, mistakes);
  const facets = sent.facets ? checkFacets(sent.facets, rules, mistakes) : [];
  const sort = checkSort(sent.sort ?? [], search !== null, rules, mistakes);
  const pagination = checkPagination(sent.pagination ?? null, mistakes);
  const aliases = sent.aliases ? checkAliases(sent.aliases, rules, mistakes) : null;
  const fields = sent.fields ? checkFields(sent.fields, rules, mistakes) : null;
  const { offset, pageSize, nextPageToken } = pagination;
  // A token comes with an answer. A query with these mistakes has no answer, so the token is of another query; see
  // `queryIdentity`.
  const isOfAnother = ['filters', 'search', 'sort', 'distinct'].some((member) => mistakes.isIn(member));
  if (isOfAnother && nextPageToken !== null) mistakes.texts.push(invalidNextPageToken);
  if (mistakes.texts.length > 0) return { ok: false, errors: mistakes.texts };
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

/** A text that is equal for queries with the same filters, search, sort and distinct. A `nextPageToken` holds for all of them. */
export function queryIdentity({ filter, search, sort, distinct }: CheckedQuery): string {
  const distinctField = distinct === null ? [] : [distinct.field];
  return canonicalJson([filter, search && searchIdentity(search), sort, ...distinctField]);
}

function checkAliases(
  aliases: readonly Json[],
  { isSchemaAlias }: QueryRules,
  mistakes: Mistakes,
): string[] | null {
  if (isSchemaAlias === null) return null;
  const known = new Set<string>();
  for (const [at, alias] of aliases.entries()) {
    if (typeof alias !== 'string') mistakes.add(`aliases[${at}]`, `must be a string, not ${quote(alias)}`);
    else if (isSchemaAlias(alias)) known.add(alias);
    else mistakes.add(`aliases[${at}]`, `no full schema has the alias ${quote(alias)}`);
  }
  return [...known];
}
