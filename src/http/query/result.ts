/** JSON text of the result of a query that asked for views, with them (contract section 7). */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import type { RowsResult } from '../../query/query-service.ts';
import { resultText } from '../../query/worker/result-text.ts';
import type { Services } from '../services.ts';
import { viewsOfRows } from './views.ts';

/** @throws StoreUnavailableError; ProblemError 400 when the asked views are more than an answer may hold */
export async function textWithViews(
  services: Pick<Services, 'store' | 'largeAnswers'>,
  principal: ClientPrincipal,
  result: RowsResult,
): Promise<Buffer> {
  const { totalResults, rows, facets, nextPageToken } = result;
  const views = await viewsOf(services, principal, result);
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
  services: Pick<Services, 'store' | 'largeAnswers'>,
  principal: ClientPrincipal,
  { rows, aliases }: RowsResult,
): Promise<Buffer[]> {
  try {
    return await viewsOfRows(services, principal, rows, aliases);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    throw new ProblemError(problems.queryInvalid([error.message]));
  }
}
