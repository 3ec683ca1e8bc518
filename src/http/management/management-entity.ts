/** `GET /management/v1/entities/{sourceGroup}/{originId}`: an entity as it is stored (docs/reference/management.md). */

import type { Environment, Source, Tenant } from '../../config/configuration.ts';
import { type StoredEntity, stampText } from '../../contract/entity.ts';
import { formatEntityId, formatViewId } from '../../contract/ids.ts';
import { momentText, stateAt } from '../../contract/publish-times.ts';
import type { EntityAnswer } from '../../contract/shapes-management.ts';
import { quote } from '../../lib/message-text.ts';
import { readProcessed } from '../../store/derived/processed.ts';
import type { ProcessedOutput } from '../../store/derived/processed-record.ts';
import { readEntitiesIn } from '../../store/entities/entities.ts';
import { indexLabel, isUrlField } from '../../store/keys.ts';
import { readOwner } from '../../store/ownership/owners.ts';
import { lastSequence } from '../../store/partitions/partition-state.ts';
import type { Store } from '../../store/store.ts';
import { formatVersion } from '../../store/visibility/version.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { pathText, requestedEnvironment, sourceOf, throwNothing } from './request-values.ts';

export function managementEntity({ store }: Services): Handler {
  return async (call) => {
    const { tenant } = call.manager;
    const sourceGroup = pathText(call, 0, 'sourceGroup');
    const originId = pathText(call, 1, 'originId');
    const source = sourceOf(tenant, sourceGroup, requestedEnvironment(call));
    return jsonAnswer<EntityAnswer>(200, await describe(store, tenant, source, originId));
  };
}

async function describe(
  store: Store,
  tenant: Tenant,
  source: Source,
  originId: string,
): Promise<EntityAnswer> {
  const partition = store.partitions.ofEntity(source.id, originId);
  const tag = store.partitions.tag(partition);
  // The position is read first, so the entity, which is read after it, is at least as new as the version.
  const sequence = await lastSequence(store, tag);
  const { clockMs } = await readOwner(store, partition);
  const [[entity], [processed]] = await Promise.all([
    readEntitiesIn(store, tag, tenant.alias, source.id, [originId]),
    readProcessed(store, tag, tenant.alias, source.id, [originId]),
  ]);
  if (!entity) throwNothing(`The source group ${source.sourceGroup} has no entity ${quote(originId)}`);
  return {
    entity: shownEntity(entity, source),
    publishAt: momentText(entity.times?.publishAt),
    unpublishAt: momentText(entity.times?.unpublishAt),
    state: stateAt(entity.times, clockMs),
    createdAt: stampText(entity.bornStamp),
    updatedAt: stampText(entity.stamp),
    version: formatVersion(new Map([[partition, sequence]])),
    made: madeOf(tenant, source, originId, processed?.outputs ?? []),
  };
}

function shownEntity(entity: StoredEntity, { id: sourceId, sourceGroup }: Source): EntityAnswer['entity'] {
  const { originId, type, url, originParentId, redirects, properties } = entity;
  const id = formatEntityId({ sourceId, originId });
  return { originId, id, sourceGroup, type, url, originParentId, redirects, properties };
}

function madeOf(
  { environments }: Tenant,
  { id: sourceId }: Source,
  originId: string,
  outputs: readonly ProcessedOutput[],
): EntityAnswer['made'] {
  const ofEnvironment = ({ id: environmentId, alias }: Environment) => {
    const own = outputs.filter((output) => output.environmentId === environmentId);
    const views = own.filter(({ kind }) => kind === 'view');
    const items = own.filter(({ kind }) => kind === 'item');
    return {
      environment: alias,
      views: views.map(({ name, claims }) => ({
        id: formatViewId({ environmentId, sourceId, originId, alias: name }),
        alias: name,
        urls: claims.filter(({ field }) => isUrlField(field)).map(({ display }) => display),
        handles: claims.filter(({ field }) => field.startsWith('h:')).map(({ display }) => display),
      })),
      items: items.map(({ name }) => ({ index: indexLabel(name) })),
    };
  };
  return environments.map(ofEnvironment).filter(({ views, items }) => views.length + items.length > 0);
}
