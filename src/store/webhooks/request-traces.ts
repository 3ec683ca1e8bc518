/**
 * The `traceparent` of recent saves and deletes, which webhooks pass on. It is a help for people: what is lost costs a trace,
 * and nothing else.
 */
import { traceKeptSeconds, tracesKeptMax } from '../../contract/limits.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';

const noteScript = new Script<Buffer>('webhooks/note-traces', 1);

/** @param entityIds as `formatEntityId` gives them. @throws StoreUnavailableError */
export async function noteTraces(
  store: Store,
  tenant: string,
  entityIds: readonly string[],
  traceparent: string,
): Promise<void> {
  const noted = `${traceparent} ${Date.now()}`;
  await noteScript.run(
    store.client,
    [keys.requestTraces(tenant)],
    [noted, tracesKeptMax, traceKeptSeconds, ...entityIds],
  );
}

/** The trace of the last of the entities that has one; null when none has. @throws StoreUnavailableError */
export async function lastTrace(
  store: Store,
  tenant: string,
  entityIds: readonly string[],
): Promise<string | null> {
  if (entityIds.length === 0) return null;
  const noted = await answerOf(store.client.hmget(keys.requestTraces(tenant), ...entityIds));
  const [traceparent, atMs] = noted.findLast((one) => one !== null)?.split(' ') ?? [];
  const isRecent = Date.now() - Number(atMs) < traceKeptSeconds * 1000;
  return traceparent !== undefined && isRecent ? traceparent : null;
}
