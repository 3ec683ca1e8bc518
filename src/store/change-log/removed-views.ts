/** Reads what removed views were, within the retention. */
import type { EnvironmentScope } from '../environment-scope.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import { readLogNames } from './log-names.ts';
import { type LoggedView, logMember, logName } from './logged-views.ts';
import { decodeRemoved, type RemovedView } from './reported-views.ts';

/** In the order asked; null for a view that was not removed within the retention. @throws StoreUnavailableError */
export async function readRemovedViews(
  store: Store,
  tag: string,
  scope: EnvironmentScope,
  views: readonly LoggedView[],
): Promise<(RemovedView | null)[]> {
  const key = keys.removed(tag, scope.tenant, scope.environmentId);
  // New views ask too, and most of them come into an environment that has removed none.
  if ((await answerOf(store.client.exists(key))) === 0) return views.map(() => null);
  const names = await readLogNames(store, tag, scope);
  const numbers = new Map([...names].map(([number, name]) => [name, number]));
  const members = views.map(({ sourceId, alias, originId }) =>
    logMember(numbers.get(logName(sourceId, alias)) ?? -1, originId),
  );
  const stored = await answerOf(store.client.hmgetBuffer(key, ...members));
  return stored.map((removed) => removed && decodeRemoved(removed));
}
