/** Details for lists of entities: titles of their views, and whether they are published. */
import type { Environment, Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { namedViewBytesMax, namedViewsBytesMax } from '../../contract/limits.ts';
import { momentText, type PublishState } from '../../contract/publish-times.ts';
import { titleOf } from '../../contract/view-title.ts';
import { groupBy, portions } from '../../lib/lists.ts';
import { readProcessed } from '../../store/derived/processed.ts';
import type { ProcessedRecord } from '../../store/derived/processed-record.ts';
import type { StoredBody } from '../../store/derived/stored-body.ts';
import { readView } from '../../store/derived/views.ts';
import { isUrlField } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import { viewJson } from '../../trial/view-json.ts';

export interface EntityDetails {
  /** Title of the first view that has one, views with a URL first; null if none has. */
  readonly name: string | null;
  readonly publishAt: string | null;
  readonly unpublishAt: string | null;
  readonly state: PublishState;
}

/** Number of entities whose views are read at a time. */
const batchSize = 50;

/** Details in the order of the entities. @throws StoreUnavailableError */
export async function detailsOf(
  store: Store,
  tenant: Tenant,
  environment: Environment,
  entities: readonly StoredEntity[],
  stateOf: (entity: StoredEntity) => PublishState,
): Promise<EntityDetails[]> {
  const names: (string | null)[] = [];
  const reader = new NameReader(store, tenant.alias, environment.id);
  for (const portion of portions(entities, batchSize)) names.push(...(await reader.namesOf(portion)));
  return entities.map((entity, at) => ({
    name: names[at] ?? null,
    publishAt: momentText(entity.times?.publishAt),
    unpublishAt: momentText(entity.times?.unpublishAt),
    state: stateOf(entity),
  }));
}

class NameReader {
  /** Bytes of views that may still be read for this list. */
  #room = namedViewsBytesMax;

  constructor(
    private readonly store: Store,
    private readonly tenant: string,
    private readonly environmentId: string,
  ) {}

  async namesOf(entities: readonly StoredEntity[]): Promise<(string | null)[]> {
    const aliases = await this.#viewsOf(entities);
    const names = new Map<StoredEntity, string>();
    // For most entities the first view has a name, so there are few further reads.
    for (let at = 0; aliases.some((ofEntity) => at < ofEntity.length); at += 1) {
      const tried = entities.flatMap((entity, index) => {
        const alias = aliases[index]?.[at];
        return alias === undefined || names.has(entity) ? [] : [{ entity, alias }];
      });
      await Promise.all(
        tried.map(async ({ entity, alias }) => {
          const name = await this.#nameOf(entity, alias);
          if (name !== null) names.set(entity, name);
        }),
      );
    }
    return entities.map((entity) => names.get(entity) ?? null);
  }

  async #nameOf({ sourceId, originId }: EntityRef, alias: string): Promise<string | null> {
    if (this.#room <= 0) return null;
    const scope = { tenant: this.tenant, environmentId: this.environmentId };
    const body = await readView(this.store, scope, { sourceId, originId, alias }, namedViewBytesMax);
    if (body === null) return null;
    this.#room -= bytesOf(body);
    return titleOf(viewJson(body, this.environmentId));
  }

  /** Aliases of the views of each entity, in the order in which they are tried. */
  async #viewsOf(entities: readonly StoredEntity[]): Promise<string[][]> {
    const { partitions } = this.store;
    const found = new Map<StoredEntity, string[]>();
    const groups = groupBy(entities, ({ sourceId, originId }) => partitions.ofEntity(sourceId, originId));
    await Promise.all(
      [...groups].map(async ([partition, group]) => {
        const originIds = group.map(({ originId }) => originId);
        const sourceId = group[0]?.sourceId ?? '';
        const tag = partitions.tag(partition);
        const records = await readProcessed(this.store, tag, this.tenant, sourceId, originIds);
        for (const [at, entity] of group.entries()) found.set(entity, this.#aliasesIn(records[at] ?? null));
      }),
    );
    return entities.map((entity) => found.get(entity) ?? []);
  }

  #aliasesIn(record: ProcessedRecord | null): string[] {
    const views = (record?.outputs ?? []).filter(
      ({ kind, environmentId }) => kind === 'view' && environmentId === this.environmentId,
    );
    const hasUrl = ({ claims }: (typeof views)[number]) => claims.some(({ field }) => isUrlField(field));
    const withUrl = views.filter(hasUrl);
    return [...withUrl, ...views.filter((view) => !withUrl.includes(view))].map(({ name }) => name);
  }
}

function bytesOf({ texts }: StoredBody): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}
