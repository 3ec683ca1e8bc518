/**
 * Adds lookups that code has requested to the configuration. The new generation only differs in its lookup indexes, which are
 * filled as after any change, and the views that wait for them are rebuilt (`layout-change.ts`).
 */
import type { ConfigDocuments, Configuration } from '../config/configuration.ts';
import { runtimeLookupsPath, tenantFilePath } from '../config/document-path.ts';
import { byTenant, fingerprintOf } from '../config/documents/canonical.ts';
import { loadingStored } from '../config/documents/load.ts';
import type { RuntimeLookup } from '../config/tenant/tenant.ts';
import { runtimeLookupsMax, sliceMs } from '../contract/limits.ts';
import { groupBy } from '../lib/lists.ts';
import { Slice } from '../lib/slices/slice.ts';
import { textsBeside } from '../store/configuration/active-configuration.ts';
import {
  forgetRuntimeLookups,
  type RuntimeLookupOf,
  readRuntimeLookups,
} from '../store/configuration/layouts.ts';
import {
  ConfigurationRefusedError,
  publishTenants,
  readActiveDigest,
  readDocuments,
  readTenants,
} from '../store/configuration/published-configuration.ts';
import type { Store } from '../store/store.ts';

/**
 * @param current configuration of this process: tenants that are equal in it are not read
 * @throws StoreUnavailableError
 */
export async function publishRuntimeLookups(store: Store, current: Configuration | null): Promise<void> {
  const requested = [...(await readRuntimeLookups(store))];
  if (requested.length === 0) return;
  const [published, active] = await Promise.all([readTenants(store), readActiveDigest(store)]);
  if (published === null || active === null || active.generation !== published.generation) return;
  const former = current === null ? [] : [current];
  const changed = await withRequested(
    store,
    published.tenants,
    requested.map(([, one]) => one),
  );
  const tenants = changed === null ? null : await textsBeside(store, published.tenants, former);
  // Another configuration became active meanwhile. The next call sees it.
  if (changed === null || tenants === null) return;
  if (changed.size > 0) {
    for (const [tenant, documents] of changed) {
      tenants.set(tenant, { fingerprint: fingerprintOf(documents), documents });
    }
    const loaded = await new Slice(sliceMs).run(loadingStored(tenants, former));
    if (!loaded.ok) return;
    const options = { origin: active.origin, after: published.generation };
    try {
      await publishTenants(store, tenants, loaded.configuration, options);
    } catch (error) {
      if (error instanceof ConfigurationRefusedError) return;
      throw error;
    }
  }
  await forgetRuntimeLookups(
    store,
    requested.map(([field]) => field),
  );
}

/** The documents of tenants whose requested lookups are missing, with these added. Null: see `readDocuments`. */
async function withRequested(
  store: Store,
  tenants: ReadonlyMap<string, { readonly fingerprint: string }>,
  requested: readonly RuntimeLookupOf[],
): Promise<Map<string, ConfigDocuments> | null> {
  const requestedBy = groupBy(requested, (one) => one.tenant);
  const documentsOf = await readDocuments(
    store,
    [...tenants].filter(([tenant]) => requestedBy.has(tenant)),
  );
  if (documentsOf === null) return null;
  const changed = new Map<string, ConfigDocuments>();
  for (const [tenant, documents] of documentsOf) {
    if (!documents.has(tenantFilePath(tenant))) continue;
    const path = runtimeLookupsPath(tenant);
    const known: RuntimeLookup[] = JSON.parse(documents.get(path) ?? '[]');
    const texts = new Set(known.map((one) => JSON.stringify(one)));
    for (const { sourceGroup, plan } of requestedBy.get(tenant) ?? []) {
      if (texts.size < runtimeLookupsMax) texts.add(JSON.stringify({ sourceGroup, plan }));
    }
    if (texts.size === known.length) continue;
    const text = `[${[...texts].sort().join(',')}]`;
    const [ordered = documents] = byTenant(new Map(documents).set(path, text)).values();
    changed.set(tenant, ordered);
  }
  return changed;
}
