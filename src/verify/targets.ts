/**
 * What a check looks at: all stored entities, deleted entities with a processed record, and data that no processed record
 * accounts for, which comparing entities would never find.
 */

import { knownSources } from '../actors/rebuild/rescan.ts';
import type { Configuration } from '../config/configuration.ts';
import { normalizeUrl } from '../config/urls/url.ts';
import { portions, sum } from '../lib/lists.ts';
import { type LoggedView, loggedView, readLogNames } from '../store/change-log/logged-views.ts';
import { type Claim, unpackClaim, unpackServed } from '../store/claims/claim-records.ts';
import { readServed } from '../store/claims/claims.ts';
import { fieldOfCompetingClaim } from '../store/claims/competing-claims.ts';
import type { Suspect } from '../store/derived/dependents.ts';
import { type StoredKey, scanFields, scanSorted, scanStoredKeys } from '../store/derived/keyspace.ts';
import { countProcessed, readProcessedOf, scanProcessed } from '../store/derived/processed.ts';
import { readEntities, scanOriginIds } from '../store/entities/entities.ts';
import { claimField, tagOf, viewFieldOf } from '../store/keys.ts';
import { readList } from '../store/redis/ordered-lists.ts';
import type { SourceRef } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';
import type { EntityTarget, RouteTarget, Target } from './finding.ts';
import { isKnown } from './suspect-check.ts';

/** Number of lookup keys that are read together. There may be as many as property values, and most are small. */
const keysPerPortion = 32;

/**
 * Portions of suspect targets.
 * @param tenant null for all
 * @throws StoreUnavailableError
 */
export async function* orphans(store: Store, tenant: string | null): AsyncGenerator<Target[]> {
  for await (const keys of scanStoredKeys(store)) {
    const asked = keys.filter((key) => tenant === null || key.tenant === tenant);
    for (const portion of portions(asked, keysPerPortion)) {
      const found = await Promise.all(
        portion.filter(({ kind }) => kind === 'lookup').map((key) => allTargetsOf(store, key)),
      );
      if (found.some((targets) => targets.length > 0)) yield found.flat();
      for (const key of portion) if (key.kind !== 'lookup') yield* targetsOf(store, key);
    }
  }
}

async function allTargetsOf(store: Store, key: StoredKey): Promise<Target[]> {
  const targets: Target[] = [];
  for await (const portion of targetsOf(store, key)) targets.push(...portion);
  return targets;
}

async function* targetsOf(store: Store, key: StoredKey): AsyncGenerator<Target[]> {
  if (key.kind === 'routes') {
    for await (const urls of readList(store, key.key)) yield urls.map((url) => routeTarget(key, url));
    return;
  }
  if (key.kind === 'log') {
    const { tenant, scope: environmentId } = key;
    const names = await readLogNames(store, tagOf(key.key), { tenant, environmentId });
    for await (const members of scanSorted(store, key.key)) {
      yield await unaccounted(
        store,
        key,
        members.flatMap((member) => loggedTarget(key, loggedView(member, names))),
      );
    }
    return;
  }
  if (key.kind === 'ranks') {
    for await (const members of scanSorted(store, key.key)) yield await leftoverTargets(store, key, members);
    return;
  }
  for await (const fields of scanFields(store, key.key)) {
    const found = fields.flatMap(({ field, value }) => ownersOf(key, field, value));
    yield await unaccounted(store, key, found);
    if (key.kind === 'claims') {
      const names = fields.map(({ field }) => field);
      yield names
        .filter((name) => fieldOfCompetingClaim(name) === null)
        .map((field) => targetOfField(key, field, { urls: [], isLeftover: false }));
      yield await leftoverTargets(store, key, names);
    }
  }
}

/** Fields with separately stored claims, as for a contested field, although their record is not contested. */
async function leftoverTargets(
  store: Store,
  key: StoredKey,
  names: readonly string[],
): Promise<RouteTarget[]> {
  const fields = [...new Set(names.map(fieldOfCompetingClaim).filter((field) => field !== null))];
  const records = await readServed(store, { tenant: key.tenant, environmentId: key.scope }, fields);
  return fields
    .filter((_, index) => !records[index]?.isContested)
    .map((field) => targetOfField(key, field, { urls: [], isLeftover: true }));
}

function targetOfField(
  { tenant, scope: environmentId }: StoredKey,
  field: string,
  rest: Pick<RouteTarget, 'urls' | 'isLeftover'>,
): RouteTarget {
  return { kind: 'route', tenant, environmentId, field, ...rest };
}

function routeTarget(key: StoredKey, url: string): RouteTarget {
  const field = claimField.url(normalizeUrl(url)?.path ?? url, key.rest === 'folded' ? 'folded' : 'exact');
  return targetOfField(key, field, { urls: [url], isLeftover: false });
}

/** The target of a view in the change log, which should be in its entity's record. */
function loggedTarget({ tenant, scope: environmentId }: StoredKey, view: LoggedView | null): EntityTarget[] {
  if (view === null) return [];
  const { sourceId, originId, alias: name } = view;
  return [{ kind: 'entity', tenant, sourceId, originId, suspects: [{ kind: 'view', environmentId, name }] }];
}

/** The value of a field in a hash of claims: a claim of a contested field, or the served claims. */
function claimsIn(field: string, value: Buffer): readonly Claim[] {
  const claimed = fieldOfCompetingClaim(field);
  return claimed === null ? unpackServed(field, value).claims : [unpackClaim(claimed, value)];
}

/** The entities that a stored field belongs to. */
function ownersOf(key: StoredKey, field: string, value: Buffer): EntityTarget[] {
  const { tenant, scope, rest } = key;
  const target = (sourceId: string, originId: string, suspect: Suspect): EntityTarget[] => [
    { kind: 'entity', tenant, sourceId, originId, suspects: [suspect] },
  ];
  switch (key.kind) {
    case 'views': {
      const [name, originId] = splitAtColon(viewFieldOf(field));
      return target(rest, originId, { kind: 'view', environmentId: scope, name });
    }
    case 'items': {
      const [sourceId, name] = splitAtColon(rest);
      return target(sourceId, field, { kind: 'item', environmentId: scope, name });
    }
    case 'lookup': {
      const [layoutId, lookupKey] = splitAtColon(rest);
      return target(scope, field, { kind: 'lookup', layoutId, lookupKey });
    }
    case 'claims':
      return claimsIn(field, value).flatMap(({ view, host, kind: claimKind, display }) =>
        target(view.sourceId, view.originId, {
          kind: 'claim',
          environmentId: scope,
          alias: view.alias,
          claimKind,
          field: fieldOfCompetingClaim(field) ?? field,
          host,
          display,
        }),
      );
    case 'ranks':
    case 'log':
    case 'routes':
      return [];
  }
}

/** Splits at the first colon. */
function splitAtColon(text: string): [before: string, after: string] {
  const [before = '', ...after] = text.split(':');
  return [before, after.join(':')];
}

/** The targets that the record of their entity does not account for. */
async function unaccounted(
  store: Store,
  { tenant }: StoredKey,
  targets: readonly EntityTarget[],
): Promise<EntityTarget[]> {
  const records = await readProcessedOf(store, tenant, targets);
  return targets.filter(({ suspects }, at) =>
    suspects.some((suspect) => !isKnown(records[at] ?? null, suspect)),
  );
}

/** Number of entities that are rebuilt together; each may have megabytes. */
export const entitiesPerCheck = 50;

/** The entities of one source in one partition. */
interface SourcePartition extends SourceRef {
  readonly partition: number;
  readonly tag: string;
}

/**
 * @param tenant null for all
 * @throws StoreUnavailableError
 */
export async function sourcePartitions(
  store: Store,
  configuration: Configuration,
  tenant: string | null,
): Promise<SourcePartition[]> {
  const all = await Promise.all(
    store.partitions.tags.map(async (tag, partition) => {
      const sources = await knownSources(store, tag, configuration);
      return sources.map((source) => ({ ...source, partition, tag }));
    }),
  );
  return all.flat().filter((source) => tenant === null || source.tenant === tenant);
}

/** The approximate number of entities. @throws StoreUnavailableError */
export async function countTargets(store: Store, sources: readonly SourcePartition[]): Promise<number> {
  const counts = await Promise.all(
    sources.map(({ tag, tenant, sourceId }) => countProcessed(store, tag, tenant, sourceId)),
  );
  return sum(counts);
}

/** Portions of at most `entitiesPerCheck`. @throws StoreUnavailableError */
export async function* entityTargets(store: Store, source: SourcePartition): AsyncGenerator<EntityTarget[]> {
  const { tenant, sourceId, partition, tag } = source;
  const targetOf = (originId: string): EntityTarget => ({
    kind: 'entity',
    tenant,
    sourceId,
    originId,
    suspects: [],
  });
  for await (const originIds of scanOriginIds(store, partition, tenant, sourceId)) {
    for (const portion of portions(originIds, entitiesPerCheck)) yield portion.map(targetOf);
  }
  for await (const records of scanProcessed(store, tag, tenant, sourceId)) {
    const refs = records.map(({ originId }) => ({ sourceId, originId }));
    for (const portion of portions(refs, entitiesPerCheck)) {
      const entities = await readEntities(store, tenant, portion);
      const gone = portion.filter((_, index) => entities[index] === null);
      if (gone.length > 0) yield gone.map(({ originId }) => targetOf(originId));
    }
  }
}
