/**
 * The one table of endpoints. Routing, access rules, metrics' labels and `/openapi.json` all come from it; handlers are
 * joined to it by name in `handlers.ts`.
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

/** The methods that each path knows, HEAD beside GET. */
export function methodsByPath(): Map<string, string[]> {
  const methodsOf = new Map<string, string[]>();
  for (const { path, method } of routeTable) {
    const names = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...names]);
  }
  return methodsOf;
}
