/**
 * The result of a query that asked for views: each row with `_views`, the views of its entity, and `_viewIds`, their ids
 * (docs/reference/indexes-and-queries.md "The query object").
 */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { formatViewId } from '../../contract/ids.ts';
import type { QueryRow, RowsResult } from '../../query/query-service.ts';
import { resultText } from '../../query/result/result-text.ts';
import { viewTarget } from '../../store/derived/views.ts';
import type { Store } from '../../store/store.ts';
import { plainReferences } from '../delivery/reference-style.ts';
import { Rendering } from '../delivery/render.ts';
import { LoadedViews } from '../delivery/view-loading.ts';
import { scopeOf } from '../routes/page.ts';
import type { Services } from '../services.ts';

const viewsName = Buffer.from(',"_views":');

/**
 * JSON text of the result. References are resolved as in delivery.
 * @throws StoreUnavailableError; ProblemError 400 when the views of all rows are more than one answer of delivery may
 * hold
 */
export async function textWithViews(
  { store, largeAnswers }: Pick<Services, 'store' | 'largeAnswers'>,
  principal: ClientPrincipal,
  { totalResults, rows, facets, nextPageToken, aliases }: RowsResult,
): Promise<Buffer> {
  const views = new LoadedViews(largeAnswers, principal, principal.depth);
  try {
    const viewTexts = await viewsOfRows(store, principal, views, rows, aliases);
    // A row is never `{}`: it has at least its ids. So a comma can stand before `_views`.
    const texts = rows.map(({ text }, at) =>
      Buffer.concat([text.subarray(0, -1), viewsName, ...(viewTexts[at] ?? [])]),
    );
    return resultText(totalResults, texts, { facets, nextPageToken });
  } catch (error) {
    // What has no room right now is no mistake of the query.
    if (!(error instanceof ProblemError) || error.problem.status !== 422) throw error;
    throw new ProblemError(problems.queryInvalid([error.message]));
  } finally {
    views.release();
  }
}

/** JSON text of `_views` of each row and of what stands behind them, in pieces. */
async function viewsOfRows(
  store: Store,
  principal: ClientPrincipal,
  views: LoadedViews,
  rows: readonly QueryRow[],
  aliases: readonly string[],
): Promise<Uint8Array[][]> {
  const scope = scopeOf(principal);
  const targetsOf = ({ sourceId, originId }: QueryRow) =>
    aliases.map((alias) => viewTarget({ sourceId, originId, alias }));
  await views.load(store, scope, rows.flatMap(targetsOf));
  const rendering = new Rendering(
    scope.environmentId,
    (target) => views.get(target),
    plainReferences,
    principal.depth,
  );
  return rows.map((row) => {
    const from = rendering.pieces.length;
    targetsOf(row).forEach((target, index) => {
      const view = views.get(target);
      rendering.write(Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(target.alias)}:`));
      if (view === null) rendering.write(Buffer.from('null'));
      else rendering.view(view, '');
    });
    const ids = targetsOf(row)
      .filter((target) => views.get(target) !== null)
      .map((target) => formatViewId({ ...target, environmentId: scope.environmentId }));
    const tail = `${aliases.length === 0 ? '{}' : '}'},"_viewIds":${JSON.stringify(ids)}}`;
    return [...rendering.pieces.slice(from), Buffer.from(tail)];
  });
}
