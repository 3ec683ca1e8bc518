/** `_views` of query results: the views that the same entities have (contract section 7 "aliases"). */
import type { ClientPrincipal } from '../../config/configuration.ts';
import type { QueryRow } from '../../query/query-service.ts';
import { viewTarget } from '../../store/derived/views.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import type { Store } from '../../store/store.ts';
import { Rendering } from '../delivery/render.ts';
import { LoadedViews } from '../delivery/view-loading.ts';
import { scopeOf } from '../routes/page.ts';
import type { Services } from '../services.ts';

/**
 * JSON text of `_views` for each row, references resolved as in delivery, within the limits of one delivery answer.
 * @throws StoreUnavailableError; ProblemError beyond a limit
 */
export async function viewsOfRows(
  { store, largeAnswers }: Pick<Services, 'store' | 'largeAnswers'>,
  principal: ClientPrincipal,
  rows: readonly QueryRow[],
  aliases: readonly string[],
): Promise<Buffer[]> {
  const views = new LoadedViews(largeAnswers, principal);
  try {
    return await textsOfRows(store, scopeOf(principal), views, rows, aliases);
  } finally {
    views.release();
  }
}

async function textsOfRows(
  store: Store,
  scope: EnvironmentScope,
  views: LoadedViews,
  rows: readonly QueryRow[],
  aliases: readonly string[],
): Promise<Buffer[]> {
  const targetsOf = ({ sourceId, originId }: QueryRow) =>
    aliases.map((alias) => viewTarget({ sourceId, originId, alias }));
  await views.load(store, scope, rows.flatMap(targetsOf));
  const rendering = new Rendering(scope.environmentId, (target) => views.get(target));
  return rows.map((row) => {
    const from = rendering.pieces.length;
    targetsOf(row).forEach((target, index) => {
      const view = views.get(target);
      rendering.write(Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(target.alias)}:`));
      if (view === null) rendering.write(Buffer.from('null'));
      else rendering.view(view, '');
    });
    const text = aliases.length === 0 ? '{}' : '}';
    return Buffer.concat([...rendering.pieces.slice(from), Buffer.from(text)]);
  });
}
