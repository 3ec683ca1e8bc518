/** Forgets the change logs of environments that no configuration has any more. */
import type { EnvironmentScope } from '../environment-scope.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { logField, scopeOfLogField } from './logged-views.ts';

const forgetScript = new Script<0 | 1>('change-log/forget', 7);

/**
 * Forgets, in all partitions, what the change log keeps of environments without views. What is left is the horizon, so a
 * reader who comes back with an offset is refused and not told less than happened.
 * @param isGone true for an environment that nobody may read any more
 * @throws StoreUnavailableError
 */
export async function forgetLogs(store: Store, isGone: (scope: EnvironmentScope) => boolean): Promise<void> {
  for (const tag of store.partitions.tags) {
    for (const field of await answerOf(store.client.hkeys(keys.logs(tag)))) {
      const scope = scopeOfLogField(field);
      if (isGone(scope)) await forgetLog(store, tag, scope);
    }
  }
}

/** @returns false when views are in it, and nothing was forgotten. @throws StoreUnavailableError */
async function forgetLog(store: Store, tag: string, scope: EnvironmentScope): Promise<boolean> {
  const { tenant, environmentId } = scope;
  const scriptKeys = [
    keys.log(tag, tenant, environmentId),
    keys.traces(tag, tenant, environmentId),
    keys.logs(tag),
    keys.removed(tag, tenant, environmentId),
    keys.left(tag, tenant, environmentId),
    keys.logNames(tag, tenant, environmentId),
    keys.viewCounts(tag, tenant, environmentId),
  ];
  return (await forgetScript.run(store.client, scriptKeys, [logField(scope)])) === 1;
}
