/** Counts the URLs and handles that are served now. A dry run itself only counts those whose claims would move. */
import type { Tenant } from '../../config/configuration.ts';
import { countRoutes } from '../../store/claims/routes.ts';
import { readLayouts } from '../../store/configuration/layouts.ts';
import { scanFields } from '../../store/derived/keyspace.ts';
import { isUrlField, keys } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import type { ChangeCounts, ConfigurationDiff } from './diff.ts';

export interface ServedNow {
  readonly routes: number;
  readonly handles: number;
}

/**
 * @param handleClaims number of claims on handles of all views
 * @throws StoreUnavailableError
 */
export async function servedNow(
  store: Store,
  tenants: readonly Tenant[],
  handleClaims: number,
): Promise<ServedNow> {
  const layouts = await readLayouts(store);
  let [routes, handles] = [0, handleClaims];
  for (const { alias: tenant, environments } of tenants) {
    const urlForms = layouts.urlFormsOf(tenant).read;
    for (const { id: environmentId } of environments) {
      routes += await countRoutes(store, { tenant, environmentId, urlForms });
      handles -= await competingHandleClaims(store, tenant, environmentId);
    }
  }
  return { routes, handles };
}

/** Claims on handles beyond the first of each handle. */
async function competingHandleClaims(store: Store, tenant: string, environmentId: string): Promise<number> {
  // A scan may return a field twice.
  const counts = new Map<string, number>();
  for (const tag of store.partitions.tags) {
    for await (const portion of scanFields(store, keys.clashes(tag, tenant, environmentId))) {
      for (const { field, value } of portion) {
        if (!isUrlField(field)) counts.set(field, Number(value));
      }
    }
  }
  return [...counts.values()].reduce((sum, count) => sum + count - 1, 0);
}

/** Adds the numbers of unchanged URLs and handles. */
export function withSame(diff: ConfigurationDiff, served: ServedNow): ConfigurationDiff {
  const same = (counts: ChangeCounts, now: number) => ({
    ...counts,
    same: now - counts.changed - counts.removed,
  });
  return { ...diff, routes: same(diff.routes, served.routes), handles: same(diff.handles, served.handles) };
}
