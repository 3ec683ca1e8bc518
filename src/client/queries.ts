/** Queries of indexes and of source groups. */
import { type Connection, errorOf, MillraceError, type ReadOptions } from './connection.ts';
import type { Query } from './query.ts';
import type { BuiltIn, QueryResult } from './types.ts';

export function queryIndex<Item>(
  connection: Connection,
  index: string,
  query?: Query,
  read?: ReadOptions,
): Promise<QueryResult<Item>> {
  return queryAt(connection, `/v1/${encodeURIComponent(index)}`, query, read);
}

export function queryGroup<Item>(
  connection: Connection,
  { group, type }: { readonly group: string; readonly type: string },
  query?: Query,
  read?: ReadOptions,
): Promise<QueryResult<Item>> {
  const path = `/v1/sourceGroupAlias/${encodeURIComponent(group)}/type/${encodeURIComponent(type)}`;
  return queryAt(connection, path, query, read);
}

async function queryAt<Item>(
  connection: Connection,
  path: string,
  query: Query = {},
  read?: ReadOptions,
): Promise<QueryResult<Item>> {
  const { body } = await connection.read<QueryResult<Item>>({ ...read, method: 'POST', path, body: query });
  return body;
}

const itemsPerPage = 500;

export async function* itemsOf<Item>(
  connection: Connection,
  index: string,
  query: Query = {},
  read?: ReadOptions,
): AsyncGenerator<Item & BuiltIn> {
  const pageSize = query.pagination?.pageSize ?? itemsPerPage;
  for (let token: string | null | undefined; token !== null; ) {
    const pagination = token === undefined ? { pageSize } : { pageSize, nextPageToken: token };
    const page: QueryResult<Item> = await queryIndex(connection, index, { ...query, pagination }, read);
    yield* page.results;
    token = page.nextPageToken;
  }
}

export interface NamedQuery extends Query {
  readonly name: string;
  readonly index: string;
}

/** The result of an invalid query. */
interface InvalidQuery {
  readonly name: string;
  readonly status: 400 | 403 | 404;
  readonly errors: readonly string[];
}

type Outcome = (QueryResult<unknown> & { readonly name: string }) | InvalidQuery;

/** Maximum number of queries per request (docs/reference/limits.md). */
const queriesPerRequest = 5;

/** Results by name. @throws MillraceError with the errors by name if a query is invalid */
export async function queryMany(
  connection: Connection,
  queries: readonly NamedQuery[],
  read?: ReadOptions,
): Promise<Record<string, QueryResult<unknown>>> {
  if (new Set(queries.map(({ name }) => name)).size < queries.length) {
    throw new TypeError('Each query of multiQuery must have a unique name');
  }
  const portions: (readonly NamedQuery[])[] = [];
  for (let at = 0; at < queries.length; at += queriesPerRequest) {
    portions.push(queries.slice(at, at + queriesPerRequest));
  }
  const replies = portions.map((body) =>
    connection.read({ ...read, method: 'POST', path: '/v1', body, accepts: [400] }),
  );
  const outcomes = (await Promise.all(replies)).flatMap(({ body, status }) => {
    if (!Array.isArray(body)) throw errorOf(status, body);
    return body as readonly Outcome[];
  });
  const invalid = outcomes.filter((outcome): outcome is InvalidQuery => outcome.status !== 0);
  if (invalid.length > 0) throw errorOfQueries(invalid);
  return Object.fromEntries(outcomes.map((outcome) => [outcome.name, outcome])) as Record<
    string,
    QueryResult<unknown>
  >;
}

function errorOfQueries(invalid: readonly InvalidQuery[]): MillraceError {
  const errors = Object.fromEntries(invalid.map(({ name, errors }) => [name, errors]));
  const texts = invalid.map(({ name, errors }) => `${name}: ${errors.join('; ')}`);
  return new MillraceError(`Query is not valid (${texts.join('. ')})`, {
    status: invalid[0]?.status ?? 400,
    code: 'queriesInvalid',
    errors,
  });
}
