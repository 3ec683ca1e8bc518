/**
 * The one table of endpoints. Routing, access rules, metrics' labels and `/openapi.json` all come from it; handlers are
 * joined to it by name in `handlers.ts`.
 */
import { deliveryEndpoints } from './endpoints-of-delivery.ts';
import { ingestEndpoints } from './endpoints-of-ingest.ts';
import { operationsEndpoints } from './endpoints-of-operations.ts';
import { queryEndpoints } from './endpoints-of-query.ts';
import { routesEndpoints } from './endpoints-of-routes.ts';
import type { RouteDefinition } from './route-definition.ts';

export const routeTable: readonly RouteDefinition[] = [
  ...ingestEndpoints,
  ...deliveryEndpoints,
  ...routesEndpoints,
  ...queryEndpoints,
  ...operationsEndpoints,
];
