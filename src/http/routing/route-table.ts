/**
 * The table of all endpoints. Routing, access rules, the labels of metrics and `/openapi.json` come from it. `handlers.ts` has
 * the handler of each endpoint, by name.
 */

import type { EndpointDefinition, RouteDefinition } from '../route-definition.ts';
import { changesEndpoint, managementChangesEndpoint } from './endpoints/changes-endpoints.ts';
import { deliveryEndpoints, routesEndpoints } from './endpoints/delivery-endpoints.ts';
import { ingestEndpoints } from './endpoints/ingest-endpoints.ts';
import { managementEndpoints, webhookEndpoints } from './endpoints/management-endpoints.ts';
import { consoleEndpoints, mcpEndpoints, operationsEndpoints } from './endpoints/operations-endpoints.ts';
import { managementQueryEndpoint, queryEndpoints } from './endpoints/query-endpoints.ts';
import type { ProblemStyle } from './problem-answer.ts';

const endpoints = {
  ...ingestEndpoints,
  ...deliveryEndpoints,
  ...routesEndpoints,
  changes: changesEndpoint,
  ...queryEndpoints,
  ...managementEndpoints,
  ...webhookEndpoints,
  managementQuery: managementQueryEndpoint,
  managementChanges: managementChangesEndpoint,
  ...consoleEndpoints,
  ...mcpEndpoints,
  ...operationsEndpoints,
};

export type RouteName = keyof typeof endpoints;

export interface Route extends RouteDefinition {
  readonly name: RouteName;
}

export const routeTable: readonly Route[] = Object.entries<EndpointDefinition>(endpoints).map(
  ([name, endpoint]) => ({ ...endpoint, name: name as RouteName }),
);

/** All paths of an endpoint. */
export function pathsOf({ path, alsoAt = [] }: Pick<RouteDefinition, 'path' | 'alsoAt'>): readonly string[] {
  return [path, ...alsoAt];
}

export interface ServedPath {
  readonly path: string;
  /** Includes HEAD if the path supports GET. */
  readonly methods: readonly string[];
  readonly problems: ProblemStyle;
}

/** Each path of the table once, with its methods. */
export function pathsServed(): ServedPath[] {
  const served = new Map<string, ServedPath>();
  for (const { method, problems, ...route } of routeTable) {
    const names = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    for (const path of pathsOf(route)) {
      const methods = [...(served.get(path)?.methods ?? []), ...names];
      served.set(path, { path, methods, problems: served.get(path)?.problems ?? problems });
    }
  }
  return [...served.values()];
}
