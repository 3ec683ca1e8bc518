/** JSON text of a query's result, with the views that it asked for (contract section 7). */
import type { ClientPrincipal } from '../config/types.ts';
import { ProblemError, problems } from '../contract/errors.ts';
import { labelled, resultText } from '../query/result-text.ts';
import type { GoodOutcome, RowsResult } from '../query/types.ts';
import type { Store } from '../store/store.ts';
import { viewsOfRows } from './query-views.ts';
import { scopeOf } from './routes-page.ts';

/**
 * @param labels JSON text of an object with what the multi-query echoes; null for other queries
 * @throws StoreUnavailableError; ProblemError 400 when the asked views are more than an answer may hold
 */
export async function textOfOutcome(
  store: Store,
  principal: ClientPrincipal,
  { result }: GoodOutcome,
  labels: string | null,
): Promise<Buffer> {
  const text = result.kind === 'text' ? result.text : await textWithViews(store, principal, result);
  return labels === null ? text : labelled(text, labels);
}

async function textWithViews(store: Store, principal: ClientPrincipal, result: RowsResult): Promise<Buffer> {
  const { totalResults, rows, facets, nextPageToken } = result;
  const views = await viewsOf(store, principal, result);
  // A row has members: its ids at least.
  const texts = rows.map(({ text }, at) =>
    Buffer.concat([text.subarray(0, -1), viewsName, views[at] ?? emptyObject, closingBrace]),
  );
  return resultText(totalResults, texts, { facets, nextPageToken });
}

const viewsName = Buffer.from(',"_views":');
const emptyObject = Buffer.from('{}');
const closingBrace = Buffer.from('}');

async function viewsOf(
  store: Store,
  principal: ClientPrincipal,
  { rows, aliases }: RowsResult,
): Promise<Buffer[]> {
  try {
    return await viewsOfRows(store, scopeOf(principal), rows, aliases);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    throw new ProblemError(problems.queryInvalid([error.message]));
  }
}
