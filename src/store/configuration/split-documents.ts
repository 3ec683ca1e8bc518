/**
 * Stores of formats 10 and 11 have the documents of all tenants in one field. They are split when the first process of this version
 * opens the store; `published-configuration.ts` says what is read afterwards.
 */
import {
  byTenant,
  canonicalDigest,
  configurationDigest,
  fingerprintOf,
} from '../../config/documents/canonical.ts';
import { documentsOfTenant } from '../../config/documents/tenant-folder.ts';
import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import type { RedisClient } from '../redis/redis-connection.ts';
import { Script } from '../redis/script.ts';

const splitScript = new Script<number>('configuration/split', 1);

/** Idempotent. */
export async function splitDocuments(client: RedisClient): Promise<void> {
  for (;;) {
    const [generation, packed, applied] = await client.hmgetBuffer(
      keys.configuration,
      ...['generation', 'documents', 'applied'],
    );
    if (!generation || !packed || !applied) return;
    const tenants = [...byTenant(new Map(unpack<[string, string][]>(packed)))];
    const appliedAtMs = new Map(unpack<[string, number][]>(applied));
    const fingerprints = new Map(tenants.map(([tenant, texts]) => [tenant, fingerprintOf(texts)]));
    const listed = tenants.map(([tenant, texts]) => [
      ...[tenant, fingerprints.get(tenant), canonicalDigest(documentsOfTenant(texts, tenant))],
      appliedAtMs.get(tenant) ?? Date.now(),
    ]);
    const fields = tenants.flatMap(([tenant, texts]) => [
      `documents|${tenant}|${fingerprints.get(tenant)}`,
      pack([...texts]),
    ]);
    const words = [generation, configurationDigest(fingerprints), pack(listed), ...fields];
    if ((await splitScript.run(client, [keys.configuration], words)) === 1) return;
  }
}
