/**
 * Trims the change log: removes expired traces and claims that are no longer served, and the logs of environments that are
 * no longer configured.
 */

import { keys } from '../keys.ts';
import type { Lease } from '../ownership/lease.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { OwnerScript, Script } from '../redis/script.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { logField, scopeOfLogField } from './logged-views.ts';

const trimScript = new OwnerScript<number>('change-log/trim', 5, ['calls']);
const forgottenPerCall = 500;

/**
 * @param retentionMs how long traces are kept
 * @throws FencedError, StoreUnavailableError
 */
export async function trimTraces(store: Store, lease: Lease, retentionMs: number): Promise<void> {
  const { tag, epoch } = lease;
  for (const field of await answerOf(store.client.hkeys(keys.logs(tag)))) {
    const scope = scopeOfLogField(field);
    const { tenant, environmentId } = scope;
    const scriptKeys = [
      keys.owner(tag),
      keys.logs(tag),
      keys.traces(tag, tenant, environmentId),
      keys.removed(tag, tenant, environmentId),
      keys.left(tag, tenant, environmentId),
    ];
    const words = [epoch, Math.round(retentionMs * 1000), forgottenPerCall, logField(scope)];
    while ((await trimScript.run(store.client, lease, scriptKeys, words)) === 1);
  }
}

const trimEveryMsMin = 1000;
const trimEveryMsMax = 600_000;

/** Milliseconds between two trims of an owner. */
export function trimPauseMs(retentionMs: number): number {
  return Math.min(trimEveryMsMax, Math.max(trimEveryMsMin, retentionMs / 20));
}

const forgetScript = new Script<0 | 1>('change-log/forget', 7);

/**
 * Removes the change logs of environments without views in all partitions. Their horizons stay, so a reader that returns
 * with an old offset is rejected instead of missing changes.
 * @param isGone true for an environment that is no longer configured
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

/**
 * @returns false if it still has views, so nothing was removed
 * @throws StoreUnavailableError
 */
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
