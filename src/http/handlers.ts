/** The handlers of all endpoints of the route table. The type makes sure that none is missing. */

import type { Handler } from './call.ts';
import { changesFeed, managementChanges } from './changes/changes-feed.ts';
import { consolePage } from './console/console.ts';
import { deliverByBody, deliverByQuery } from './delivery/delivery.ts';
import { saveEntities } from './ingest/bulk.ts';
import { deleteEntities, deleteEntity, deleteEntityV1 } from './ingest/delete.ts';
import { listEntities } from './ingest/list.ts';
import { saveEntity, saveEntityV1 } from './ingest/save.ts';
import { getConfiguration, putConfiguration } from './management/management-configuration.ts';
import { managementDiagnostics } from './management/management-diagnostics.ts';
import { managementEntities } from './management/management-entities.ts';
import { managementEntity } from './management/management-entity.ts';
import { explainUrl, explainViewById } from './management/management-explain.ts';
import { managementJob } from './management/management-job.ts';
import { managementPreview } from './management/management-preview.ts';
import { managementQuery } from './management/management-query.ts';
import { managementSchedule } from './management/management-schedule.ts';
import { managementStatus } from './management/management-status.ts';
import { managementTenant } from './management/management-tenant.ts';
import {
  enableWebhook,
  managementWebhooks,
  replayWebhook,
  testWebhook,
} from './management/management-webhooks.ts';
import { mcp } from './mcp/mcp.ts';
import { live, metricsText, ready } from './operations/readiness.ts';
import { queryIndexes, querySources } from './query/multi-query.ts';
import { queryIndex, querySourceGroup } from './query/query.ts';
import { listRoutesV1 } from './routes/v1.ts';
import { listRoutesV2 } from './routes/v2.ts';
import { openapi } from './routing/openapi/openapi-document.ts';
import type { RouteName } from './routing/route-table.ts';
import type { Services } from './services.ts';

export function handlersFor(services: Services): Readonly<Record<RouteName, Handler>> {
  const handlers = {
    saveEntities: saveEntities(services),
    saveEntity: saveEntity(services),
    deleteEntity: deleteEntity(services),
    deleteEntities: deleteEntities(services),
    listEntities: listEntities(services),
    saveEntityV1: saveEntityV1(services),
    deleteEntityV1: deleteEntityV1(services),
    deliver: deliverByQuery(services, 'delivery'),
    deliverV1: deliverByQuery(services, 'deliveryV1'),
    deliverKeys: deliverByBody(services),
    listRoutesV1: listRoutesV1(services),
    listRoutesV2: listRoutesV2(services),
    changes: changesFeed(services),
    queryIndex: queryIndex(services),
    querySourceGroup: querySourceGroup(services),
    querySources: querySources(services),
    queryIndexes: queryIndexes(services),
    managementStatus: managementStatus(services),
    managementTenant: managementTenant(services),
    managementEntities: managementEntities(services),
    managementSchedule: managementSchedule(services),
    managementEntity: managementEntity(services),
    explainUrl: explainUrl(services),
    explainView: explainViewById(services),
    managementQuery: managementQuery(services),
    managementChanges: managementChanges(services),
    getConfiguration: getConfiguration(services),
    putConfiguration: putConfiguration(services),
    managementJob: managementJob(services),
    managementDiagnostics: managementDiagnostics(services),
    console: consolePage(services),
    consoleView: consolePage(services),
    managementPreview: managementPreview(services),
    managementWebhooks: managementWebhooks(services),
    testWebhook: testWebhook(services),
    replayWebhook: replayWebhook(services),
    enableWebhook: enableWebhook(services),
    live,
    ready: ready(services),
    metrics: metricsText(services),
    openapi: openapi(services),
  };
  return { ...handlers, mcp: mcp(handlers) };
}
