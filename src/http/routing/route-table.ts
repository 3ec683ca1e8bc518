/**
 * The one table of endpoints. Routing, access rules, the labels of metrics and `/openapi.json` come from it.
 * `handlers.ts` gives each endpoint its handler, by name.
 */
import { deliveryEndpoints } from './endpoints/delivery.ts';
import { ingestEndpoints } from './endpoints/ingest.ts';
import { operationsEndpoints } from './endpoints/operations.ts';
import { queryEndpoints } from './endpoints/query.ts';
import { routesEndpoints } from './endpoints/routes.ts';
import type { RouteDefinition } from './route-definition.ts';

export const routeTable: readonly RouteDefinition[] = [
  ...ingestEndpoints,
  ...deliveryEndpoints,
  ...routesEndpoints,
  ...queryEndpoints,
  ...operationsEndpoints,
];

/** The methods that each path takes. A path with GET takes HEAD too. */
export function methodsByPath(): Map<string, string[]> {
  const methodsOf = new Map<string, string[]>();
  for (const { path, method } of routeTable) {
    const names = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...names]);
  }
  return methodsOf;
}
