/** Lookups that code asked for when it was run, and that no index answers. They wait here until a configuration has them. */
import { createHash } from 'node:crypto';
import type { LookupPlan } from '../../schemas/lookup-plan.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

export interface RuntimeLookupOf {
  readonly tenant: string;
  readonly sourceGroup: string;
  readonly plan: LookupPlan;
}

/** Idempotent. @throws StoreUnavailableError */
export async function noteRuntimeLookups(store: Store, asked: readonly RuntimeLookupOf[]): Promise<void> {
  if (asked.length === 0) return;
  const fields = new Map<string, string>();
  for (const { tenant, sourceGroup, plan } of asked) {
    const text = JSON.stringify({ tenant, sourceGroup, plan });
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 32);
    fields.set(`${tenant}|${digest}`, text);
  }
  await answerOf(store.client.hset(keys.askedLookups, fields));
}

/** By field. @throws StoreUnavailableError */
export async function readRuntimeLookups(store: Store): Promise<ReadonlyMap<string, RuntimeLookupOf>> {
  const stored = await answerOf(store.client.hgetall(keys.askedLookups));
  return new Map(Object.entries(stored).map(([field, text]) => [field, JSON.parse(text)]));
}

/** @throws StoreUnavailableError */
export async function forgetRuntimeLookups(store: Store, fields: Iterable<string>): Promise<void> {
  const list = [...fields];
  if (list.length > 0) await answerOf(store.client.hdel(keys.askedLookups, ...list));
}
