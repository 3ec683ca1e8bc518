/** `_views` of query results: the views that the same entities have (contract section 7 "aliases"). */
import type { QueryRow } from '../query/types.ts';
import type { Store } from '../store/store.ts';
import type { EnvironmentScope } from '../store/types.ts';
import { viewTarget } from '../store/views.ts';
import { Rendering } from './render.ts';
import { LoadedViews } from './view-loading.ts';

/**
 * JSON text of `_views` for each row, references resolved as in delivery, within the limits of one delivery answer.
 * @throws StoreUnavailableError; ProblemError beyond a limit
 */
export async function viewsOfRows(
  store: Store,
  scope: EnvironmentScope,
  rows: readonly QueryRow[],
  aliases: readonly string[],
): Promise<Buffer[]> {
  const views = new LoadedViews();
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
