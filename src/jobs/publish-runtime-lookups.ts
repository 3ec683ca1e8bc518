/**
 * Makes lookups that code asked for part of the configuration. The new generation is the same but for its lookup indexes,
 * so they are filled, become whole, and the views that wait for them are rebuilt as after any change (`layout-change.ts`).
 */
import type { ConfigDocuments } from '../config/configuration.ts';
import { runtimeLookupsPath, tenantFilePath } from '../config/documents/document-path.ts';
import { loadConfiguration } from '../config/documents/load.ts';
import type { RuntimeLookup } from '../config/tenant/tenant.ts';
import { runtimeLookupsMax } from '../contract/limits.ts';
import { groupBy } from '../lib/group-by.ts';
import {
  ConfigurationRefusedError,
  publishConfiguration,
  readActiveDigest,
  readPublished,
} from '../store/configuration/published-configuration.ts';
import {
  forgetRuntimeLookups,
  type RuntimeLookupOf,
  readRuntimeLookups,
} from '../store/configuration/runtime-lookups.ts';
import type { Store } from '../store/store.ts';

/** @throws StoreUnavailableError */
export async function publishRuntimeLookups(store: Store): Promise<void> {
  const asked = await readRuntimeLookups(store);
  if (asked.size === 0) return;
  const [published, active] = await Promise.all([readPublished(store), readActiveDigest(store)]);
  if (published === null || active === null || active.generation !== published.generation) return;
  const documents = withAsked(published.documents, [...asked.values()]);
  if (documents !== null) {
    const loaded = loadConfiguration(documents, 'stored');
    if (!loaded.ok) return;
    const options = { origin: active.origin, after: published.generation };
    try {
      await publishConfiguration(store, documents, loaded.configuration, options);
    } catch (error) {
      // Another configuration became active meanwhile: the next look sees it.
      if (error instanceof ConfigurationRefusedError) return;
      throw error;
    }
  }
  await forgetRuntimeLookups(store, asked.keys());
}

/** Null when the documents have all of them. */
function withAsked(documents: ConfigDocuments, asked: readonly RuntimeLookupOf[]): ConfigDocuments | null {
  const changed = new Map(documents);
  let isChanged = false;
  for (const [tenant, ofTenant] of groupBy(asked, (one) => one.tenant)) {
    if (!documents.has(tenantFilePath(tenant))) continue;
    const path = runtimeLookupsPath(tenant);
    const known: RuntimeLookup[] = JSON.parse(documents.get(path) ?? '[]');
    const texts = new Set(known.map((one) => JSON.stringify(one)));
    for (const { sourceGroup, plan } of ofTenant) {
      if (texts.size < runtimeLookupsMax) texts.add(JSON.stringify({ sourceGroup, plan }));
    }
    if (texts.size === known.length) continue;
    isChanged = true;
    changed.set(path, `[${[...texts].sort().join(',')}]`);
  }
  return isChanged ? changed : null;
}
