/** Finds keys in a site's configuration, and checks whether its store is empty. */
import { parseDocumentPath } from '../../config/document-path.ts';
import { readDocuments } from '../../config/documents/read-documents.ts';
import { parseJsonText } from '../../config/json-text.ts';
import { isHashed } from '../../config/tenant/api-keys.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { entitiesOf } from '../../jobs/removal-plan.ts';
import { processedSources } from '../../store/derived/processed.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';
import { type StoreSettings, withStore } from '../platform/open-store.ts';

const redisTimeoutMs = 5_000;

/** True if the store has no entities. @throws CommandStop if Redis does not respond */
export async function isStoreEmpty(address: RedisAddress, settings: StoreSettings): Promise<boolean> {
  return await withStore(address, settings, redisTimeoutMs, async (store) => {
    const lists = await Promise.all(store.partitions.tags.map((tag) => processedSources(store, tag)));
    const counts = await Promise.all(lists.flat().map((source) => entitiesOf(store, source)));
    return counts.every((count) => count === 0);
  });
}

/** The first source key in the tenant files that is not hashed, or null. */
export function firstSourceKey(configDir: string): Promise<string | null> {
  return firstKey(configDir, sourceKeysOf);
}

/** The first management key in the tenant files that is not hashed, or null. */
export function firstManagementKey(configDir: string): Promise<string | null> {
  return firstKey(configDir, (file) => keysIn(members(file, 'managementClients')));
}

async function firstKey(configDir: string, keysOf: (tenantFile: Json) => string[]): Promise<string | null> {
  const { documents } = await readDocuments(configDir);
  for (const [file, text] of documents) {
    if (parseDocumentPath(file)?.kind !== 'tenant') continue;
    const parsed = parseJsonText(text);
    const key = parsed.ok ? keysOf(parsed.json).find((one) => !isHashed(one)) : undefined;
    if (key !== undefined) return key;
  }
  return null;
}

function sourceKeysOf(tenantFile: Json): string[] {
  return keysIn(members(tenantFile, 'sourceGroups').flatMap((group) => members(group, 'sources')));
}

function keysIn(owners: readonly Json[]): string[] {
  return owners.flatMap((owner) => members(owner, 'apiKeys')).filter((key) => typeof key === 'string');
}

function members(value: Json, name: string): readonly Json[] {
  const list = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}
