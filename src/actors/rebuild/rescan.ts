/** Lists every entity of a partition, including deleted entities with a processed record. */
import type { Configuration } from '../../config/configuration.ts';
import { portions } from '../../lib/lists.ts';
import { processedSources, scanProcessed } from '../../store/derived/processed.ts';
import { scanOriginIds } from '../../store/entities/entities.ts';
import type { Lease } from '../../store/ownership/lease.ts';
import { type EntityWork, wholeTurn } from '../../store/partitions/intake.ts';
import { type SourceRef, sourceField } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';

const entitiesPerPortion = 100;

/** Yields portions of whole turns. An entity can appear twice. @throws StoreUnavailableError */
export async function* wholePartition(
  store: Store,
  { partition, tag }: Pick<Lease, 'partition' | 'tag'>,
  configuration: Configuration,
): AsyncGenerator<readonly EntityWork[]> {
  for (const { tenant, sourceId } of await knownSources(store, tag, configuration)) {
    const turnsOf = (originIds: readonly string[]) =>
      [...new Set(originIds)].map((originId) => wholeTurn({ tenant, sourceId, originId }));
    for await (const originIds of scanOriginIds(store, partition, tenant, sourceId)) {
      yield* portions(turnsOf(originIds), entitiesPerPortion);
    }
    for await (const records of scanProcessed(store, tag, tenant, sourceId)) {
      yield* portions(turnsOf(records.map(({ originId }) => originId)), entitiesPerPortion);
    }
  }
}

/** All configured sources, and removed sources with processed entities. @throws StoreUnavailableError */
export async function knownSources(
  store: Store,
  tag: string,
  configuration: Configuration,
): Promise<SourceRef[]> {
  const sources = await processedSources(store, tag);
  for (const tenant of configuration.tenants.values()) {
    for (const sourceId of tenant.sources.keys()) sources.push({ tenant: tenant.alias, sourceId });
  }
  return [...new Map(sources.map((source) => [sourceField(source), source])).values()];
}
