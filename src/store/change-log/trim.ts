/** Forgets what the change log keeps for a time only: traces, and claims that are not served any more. */
import { keys } from '../keys.ts';
import type { Lease } from '../partitions/lease.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { logField, scopeOfLogField } from './logged-views.ts';

const trimScript = new OwnerScript<number>('change-log/trim', 5, ['calls']);
const forgottenPerCall = 500;

/** @param retentionMs how long they are kept. @throws FencedError, StoreUnavailableError */
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

/** How often an owner trims. */
export function trimPauseMs(retentionMs: number): number {
  return Math.min(trimEveryMsMax, Math.max(trimEveryMsMin, retentionMs / 20));
}
