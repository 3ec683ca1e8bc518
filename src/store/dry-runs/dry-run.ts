/** What a dry run would make active. */
import type { ConfigDocuments } from '../../config/configuration.ts';
import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import { forgetMoves } from './claim-moves.ts';

/** Documents that no jobs process takes up are gone after this. */
const documentsSeconds = 24 * 3600;

/** @param documents of one tenant or of all, keys hashed. @throws StoreUnavailableError */
export async function putDryRun(store: Store, token: string, documents: ConfigDocuments): Promise<void> {
  const key = keys.dryRun(token);
  const call = store.client.multi();
  call.hset(key, 'documents', pack([...documents]));
  call.expire(key, documentsSeconds);
  await answerOf(call.exec());
}

/** Null when they are gone. @throws StoreUnavailableError */
export async function readDryRun(store: Store, token: string): Promise<ConfigDocuments | null> {
  const documents = await answerOf(store.client.hgetBuffer(keys.dryRun(token), 'documents'));
  return documents === null ? null : new Map(unpack<[string, string][]>(documents));
}

/** Removes all that a dry run has stored. @throws StoreUnavailableError */
export async function forgetDryRun(store: Store, token: string): Promise<void> {
  await forgetMoves(store, token);
  await answerOf(store.client.del(keys.dryRun(token)));
}
