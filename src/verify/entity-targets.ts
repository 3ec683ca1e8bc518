/** All stored entities, and deleted entities with a processed record, as targets of a check. */
import { knownSources } from '../actors/rebuild/rescan.ts';
import type { Configuration } from '../config/configuration.ts';
import { portions, sum } from '../lib/lists.ts';
import { countProcessed, scanProcessed } from '../store/derived/processed.ts';
import { readEntities, scanOriginIds } from '../store/entities/entities.ts';
import type { SourceRef } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';
import type { EntityTarget } from './finding.ts';

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
