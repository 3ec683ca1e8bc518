/** Finds views that will claim a URL when their entities are published, which is not stored anywhere. */
import { type Builder, buildersFor } from '../../actors/batch/builder.ts';
import { inputWithoutLookups } from '../../actors/batch/output.ts';
import { claimsOf, noFormerClaims } from '../../actors/batch/view-claims.ts';
import type { Environment, Tenant } from '../../config/configuration.ts';
import type { UrlForm } from '../../config/urls/url.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import { scheduledExplainedMax, sliceMs } from '../../contract/limits.ts';
import { Suspended } from '../../lib/cooperative-yield.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { ViewClaims } from '../../schemas/schema.ts';
import { readEntities } from '../../store/entities/entities.ts';
import { listScheduled } from '../../store/entities/entity-schedule.ts';
import type { Store } from '../../store/store.ts';

export interface WaitingClaim {
  readonly alias: string;
  readonly originId: string;
  /** When its entity will be published. */
  readonly atMs: number;
}

/**
 * The waiting claims among the next schedule entries of an environment, up to a limit. The claims of code are only known at run
 * time, so its views count with the URL of the entity.
 * @param fields claim fields of the URL
 * @throws StoreUnavailableError
 */
export async function waitingClaims(
  store: Store,
  { tenant, environment }: { readonly tenant: Tenant; readonly environment: Environment },
  fields: readonly string[],
  forms: readonly UrlForm[],
): Promise<WaitingClaim[]> {
  const sources = [...tenant.sources.values()].filter(({ environments }) =>
    environments.some(({ id }) => id === environment.id),
  );
  const sourceIds = sources.map(({ id }) => id);
  const moments = await listScheduled(store, tenant.alias, sourceIds, null, scheduledExplainedMax);
  const entities = await readEntities(store, tenant.alias, moments);
  const slice = new Slice(sliceMs);
  const waiting: WaitingClaim[] = [];
  for (const [at, { atMs, originId, sourceId }] of moments.entries()) {
    const [entity, source] = [entities[at] ?? null, tenant.sources.get(sourceId)];
    if (entity === null || source === undefined || entity.times?.publishAt !== atMs) continue;
    for (const builder of buildersFor(tenant, source, entity.type)) {
      if (builder.kind !== 'view' || builder.environmentId !== environment.id) continue;
      const claims = await claimsOfView(tenant, entity, builder, slice);
      const claimed = forms.flatMap((form) => claimsOf(entity, claims, noFormerClaims, form));
      if (claimed.some(({ field }) => fields.includes(field))) {
        waiting.push({ alias: builder.name, originId, atMs });
      }
    }
    if (slice.isOver) await slice.next();
  }
  return waiting;
}

async function claimsOfView(
  tenant: Tenant,
  entity: StoredEntity,
  { schema, environmentId, name }: Extract<Builder, { kind: 'view' }>,
  slice: Slice,
): Promise<ViewClaims> {
  const { input } = inputWithoutLookups(tenant, entity, environmentId, name);
  const made = schema.claims(input);
  const claims = made instanceof Suspended ? await slice.run(made.steps) : made;
  return claims.areUnknown === true ? { url: entity.url, handles: [] } : claims;
}
