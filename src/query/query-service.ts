/** The interface of the query layer for the HTTP front (docs/reference/indexes-and-queries.md). */
import type { ClientPrincipal } from '../config/configuration.ts';
import type { Json } from '../contract/json.ts';
import type { MergedFacet } from '../search/merge-answers.ts';
import type { Version } from '../store/visibility/version.ts';

/** The target of a query: an index, or an entity type of an auto-indexed source group. */
export type QueryTarget =
  | { readonly kind: 'index'; readonly alias: string }
  | { readonly kind: 'auto'; readonly sourceGroup: string; readonly type: string };

export interface QueryRequest {
  readonly target: QueryTarget;
  /** The query object as received. */
  readonly body: Json;
  /** Errors in the target or the name, reported with the query's other errors; absent for none. */
  readonly errors?: readonly string[];
}

export interface QueryOptions {
  /** Minimum state of the answer; null for any. */
  readonly minVersion: Version | null;
}

export interface QueryService {
  /**
   * Runs queries together. Outcomes are in the order of the queries. An invalid query does not affect the others.
   * @throws UnavailableError if there was no complete answer in time; ProblemError `versionNotReached`
   */
  run(
    principal: ClientPrincipal,
    requests: readonly QueryRequest[],
    options: QueryOptions,
  ): Promise<QueryOutcome[]>;
}

export type QueryOutcome = GoodOutcome | BadOutcome;

export interface BadOutcome {
  readonly ok: false;
  /** 403: the client may not query this index. 404: no such index, source group or entity type. */
  readonly status: 400 | 403 | 404;
  /** Messages of all errors. */
  readonly errors: readonly string[];
}

export interface GoodOutcome {
  readonly ok: true;
  readonly result: QueryResult;
  /** The subject under which changes to the items of the index are announced (`itemsSubject`). */
  readonly subject: string;
  /** Digest of the configuration that the answer follows; null while workers switch to another one. */
  readonly configuration: string | null;
  /** True if the same query has another answer later, although no item changes. */
  readonly dependsOnTime?: boolean;
}

export type QueryResult =
  /** JSON text of the whole result, from `result-text.ts`. */
  { readonly kind: 'text'; readonly text: Buffer } | RowsResult;

/** Result of a query with views. The caller adds the views to the rows. */
export interface RowsResult {
  readonly kind: 'rows';
  readonly totalResults: number;
  readonly rows: readonly QueryRow[];
  readonly facets: readonly MergedFacet[];
  readonly nextPageToken: string | null;
  /** Full schemas whose views `_views` must have, each once. */
  readonly aliases: readonly string[];
}

export interface QueryRow {
  readonly sourceId: string;
  readonly originId: string;
  /** JSON text of the row in UTF-8, with all built-in fields except `_views`. */
  readonly text: Buffer;
}

/** There was no complete and current answer in time. The client gets a 503 with `Retry-After`. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}
