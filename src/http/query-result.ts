/** JSON text of a query's result; rows come with their fields already written (contract section 7). */
import type { ClientPrincipal } from '../config/types.ts';
import { ProblemError, problems } from '../contract/errors.ts';
import type { GoodOutcome, QueryRequest, QueryRow } from '../query/types.ts';
import type { Store } from '../store/store.ts';
import { viewsOfRows } from './query-views.ts';
import { scopeOf } from './routes-page.ts';

/**
 * @param labels what the multi-query echoes; empty for other queries
 * @throws StoreUnavailableError; ProblemError 400 when the asked views are more than an answer may hold
 */
export async function resultText(
  store: Store,
  principal: ClientPrincipal,
  outcome: GoodOutcome,
  { target }: QueryRequest,
  labels: object,
): Promise<Buffer[]> {
  const { rows, aliases, totalResults, facets, nextPageToken } = outcome;
  const views = aliases === null ? null : await viewsOf(store, principal, rows, aliases);
  const head = JSON.stringify({ status: 200, ...labels, totalResults });
  const tail = JSON.stringify({ facets, nextPageToken });
  const texts: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"results":[`)];
  rows.forEach((row, index) => {
    const builtIn = JSON.stringify(builtInFields(row, target));
    texts.push(Buffer.from(`${index === 0 ? '' : ','}${builtIn.slice(0, -1)}`));
    const rowViews = views?.[index];
    if (rowViews !== undefined) texts.push(Buffer.from(',"_views":'), rowViews);
    texts.push(Buffer.from(row.fieldsText === '{}' ? '}' : `,${row.fieldsText.slice(1)}`));
  });
  texts.push(Buffer.from(`],${tail.slice(1)}`));
  return texts;
}

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

function builtInFields(
  { originId, sourceId, updatedAtMs, score }: QueryRow,
  target: QueryRequest['target'],
): object {
  const ids = { _originId: originId, _sourceGuid: sourceId, _updatedAt: new Date(updatedAtMs).toISOString() };
  return target.kind === 'index' ? { ...ids, _score: score } : ids;
}
