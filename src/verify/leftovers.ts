/**
 * Looks through everything that is stored for what no processed record accounts for, and names it as something to
 * check. Comparing entities alone would never meet it.
 */
import { normalizeUrl } from '../config/url.ts';
import { groupBy } from '../contract/group-by.ts';
import { unpackClaims } from '../store/claims.ts';
import { claimField } from '../store/keys.ts';
import { type StoredKey, scanFields, scanSorted, scanStoredKeys } from '../store/keyspace.ts';
import { readProcessed } from '../store/processed.ts';
import type { Store } from '../store/store.ts';
import type { Suspect } from '../store/suspects.ts';
import type { EntityTarget, RouteTarget, Target } from './finding.ts';
import { isKnown } from './suspect-check.ts';

/** Lookup keys may be as many as values, most of them small. */
const keysAtOnce = 32;

/** Portions of targets that are worth a check. @param tenant null for all. @throws StoreUnavailableError */
export async function* leftovers(store: Store, tenant: string | null): AsyncGenerator<Target[]> {
  for await (const keys of scanStoredKeys(store)) {
    const asked = keys.filter((key) => tenant === null || key.tenant === tenant);
    for (let at = 0; at < asked.length; at += keysAtOnce) {
      const portion = asked.slice(at, at + keysAtOnce);
      const found = await Promise.all(
        portion.filter(({ kind }) => kind === 'lookup').map((key) => allOf(store, key)),
      );
      if (found.some((targets) => targets.length > 0)) yield found.flat();
      for (const key of portion) if (key.kind !== 'lookup') yield* ofKey(store, key);
    }
  }
}

async function allOf(store: Store, key: StoredKey): Promise<Target[]> {
  const targets: Target[] = [];
  for await (const portion of ofKey(store, key)) targets.push(...portion);
  return targets;
}

async function* ofKey(store: Store, key: StoredKey): AsyncGenerator<Target[]> {
  if (key.kind === 'routes') {
    for await (const urls of scanSorted(store, key.key)) yield urls.map((url) => routeTarget(key, url));
    return;
  }
  for await (const fields of scanFields(store, key.key)) {
    const found = fields.flatMap(({ field, value }) => entityTargets(key, field, value));
    yield await unknown(store, found);
    if (key.kind === 'claims') {
      yield fields.map(({ field }) => ({
        kind: 'route',
        tenant: key.tenant,
        environmentId: key.scope,
        field,
        urls: [],
      }));
    }
  }
}

function routeTarget({ tenant, scope: environmentId }: StoredKey, url: string): RouteTarget {
  const field = claimField.url(normalizeUrl(url)?.path ?? url);
  return { kind: 'route', tenant, environmentId, field, urls: [url] };
}

/** What a stored field says of entities. */
function entityTargets(key: StoredKey, field: string, value: Buffer): EntityTarget[] {
  const { tenant, scope, rest } = key;
  const target = (sourceId: string, originId: string, suspect: Suspect): EntityTarget[] => [
    { kind: 'entity', tenant, sourceId, originId, suspects: [suspect] },
  ];
  const [first = '', second = '', ...others] = field.split(':');
  switch (key.kind) {
    case 'views':
      return target(first, others.join(':'), { kind: 'view', environmentId: scope, name: second });
    case 'items':
      return target(first, [second, ...others].join(':'), { kind: 'item', environmentId: scope, name: rest });
    case 'lookup': {
      const [layoutId = '', ...lookupKey] = rest.split(':');
      return target(scope, field, { kind: 'lookup', layoutId, lookupKey: lookupKey.join(':') });
    }
    case 'claims':
      return unpackClaims(value).flatMap(({ view, host, kind: claimKind, display }) =>
        target(view.sourceId, view.originId, {
          kind: 'claim',
          environmentId: scope,
          alias: view.alias,
          claimKind,
          field,
          host,
          display,
        }),
      );
    case 'routes':
      return [];
  }
}

/** Those whose entity's record does not account for them. */
async function unknown(store: Store, targets: readonly EntityTarget[]): Promise<EntityTarget[]> {
  const groups = groupBy(
    targets,
    ({ tenant, sourceId, originId }) =>
      `${store.partitions.ofEntity(sourceId, originId)}:${tenant}:${sourceId}`,
  );
  const found = await Promise.all(
    [...groups.values()].map(async (group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { tenant, sourceId, originId } = first;
      const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, originId));
      const originIds = group.map((target) => target.originId);
      const records = await readProcessed(store, tag, tenant, sourceId, originIds);
      return group.filter(({ suspects }, index) =>
        suspects.some((suspect) => !isKnown(records[index] ?? null, suspect)),
      );
    }),
  );
  return found.flat();
}
