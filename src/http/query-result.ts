/** JSON text of a query's result; rows come already written (contract section 7). */
import type { ClientPrincipal } from '../config/types.ts';
import { ProblemError, problems } from '../contract/errors.ts';
import type { GoodOutcome, QueryRow } from '../query/types.ts';
import type { Store } from '../store/store.ts';
import { viewsOfRows } from './query-views.ts';
import { scopeOf } from './routes-page.ts';

const comma = Buffer.from(',');

/**
 * The pieces of a result's text.
 * @param labels what the multi-query echoes; empty for other queries
 * @throws StoreUnavailableError; ProblemError 400 when the asked views are more than an answer may hold
 */
export async function resultText(
  store: Store,
  principal: ClientPrincipal,
  outcome: GoodOutcome,
  labels: object,
): Promise<Buffer[]> {
  const { rows, aliases, totalResults, facets, nextPageToken } = outcome;
  const head = JSON.stringify({ status: 200, ...labels, totalResults });
  const tail = JSON.stringify({ facets, nextPageToken });
  const pieces: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"results":[`)];
  if (aliases === null) addRows(pieces, rows);
  else addRowsWithViews(pieces, rows, await viewsOf(store, principal, rows, aliases));
  pieces.push(Buffer.from(`],${tail.slice(1)}`));
  return pieces;
}

function addRows(pieces: Buffer[], rows: readonly QueryRow[]): void {
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) break;
    if (at > 0) pieces.push(comma);
    pieces.push(row.text);
  }
}

function addRowsWithViews(pieces: Buffer[], rows: readonly QueryRow[], views: readonly Buffer[]): void {
  for (const [at, { text }] of rows.entries()) {
    if (at > 0) pieces.push(comma);
    // A row has members: its ids at least.
    pieces.push(text.subarray(0, -1), Buffer.from(',"_views":'), views[at] ?? emptyObject, closingBrace);
  }
}

const emptyObject = Buffer.from('{}');
const closingBrace = Buffer.from('}');

async function viewsOf(
  store: Store,
  principal: ClientPrincipal,
  rows: readonly QueryRow[],
  aliases: readonly string[],
): Promise<Buffer[]> {
  try {
    return await viewsOfRows(store, scopeOf(principal), rows, aliases);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    throw new ProblemError(problems.queryInvalid([error.message]));
  }
}
