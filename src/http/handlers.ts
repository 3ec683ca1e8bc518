/** The handler of every endpoint of the route table; a missing one does not compile. */
import { deliverByBody, deliverByQuery } from './delivery/delivery.ts';
import type { Handler } from './handler.ts';
import { saveEntities } from './ingest/bulk.ts';
import { deleteEntities, deleteEntity } from './ingest/delete.ts';
import { saveEntity } from './ingest/single.ts';
import { live, metricsText, ready } from './operations/health.ts';
import { queryIndex, querySourceGroup, querySources } from './query/query.ts';
import { listRoutesV1 } from './routes/v1.ts';
import { listRoutesV2 } from './routes/v2.ts';
import { openapi } from './routing/openapi/document.ts';
import type { RouteName } from './routing/route-definition.ts';
import type { Services } from './services.ts';

export function handlersFor(services: Services): Readonly<Record<RouteName, Handler>> {
  return {
    saveEntities: saveEntities(services),
    saveEntity: saveEntity(services),
    deleteEntity: deleteEntity(services),
    deleteEntities: deleteEntities(services),
    deliver: deliverByQuery(services),
    deliverKeys: deliverByBody(services),
    listRoutesV1: listRoutesV1(services),
    listRoutesV2: listRoutesV2(services),
    queryIndex: queryIndex(services),
    querySourceGroup: querySourceGroup(services),
    querySources: querySources(services),
    live,
    ready: ready(services),
    metrics: metricsText(services),
    openapi: openapi(services),
  };
}
