/** An endpoint of the route table, prepared for the server. */
import type { HttpRequest } from 'uWebSockets.js';
import type { DeclaredHeaders, Handler } from '../call.ts';
import type { RecordedRoute, RouteTimes } from '../request-record.ts';
import type { HeaderDefinition, RouteDefinition } from '../route-definition.ts';
import { allowsCrossOrigin, varyByKeyLines } from './cross-origin.ts';

export interface ServedRoute {
  readonly definition: RouteDefinition;
  readonly handler: Handler;
  readonly declared: DeclaredHeaders;
  /** Path parameters as received, percent-encoded. */
  parametersOf(request: HttpRequest): readonly string[];
  readonly recorded: RecordedRoute;
  readonly allowsCrossOrigin: boolean;
  /** Header lines to add to each response, unless they depend on the origin of the request. */
  readonly addedLines: string;
}

export function servedRoute(
  definition: RouteDefinition,
  handler: Handler,
  { times, headerPrefixes }: { readonly times: RouteTimes; readonly headerPrefixes: readonly string[] },
): ServedRoute {
  const { headers, path, method } = definition;
  return {
    definition,
    handler,
    declared: declaredHeaders(headers, headerPrefixes),
    parametersOf: parameterReader(path.split('{').length - 1),
    recorded: { path, method: method.toUpperCase(), times },
    allowsCrossOrigin: allowsCrossOrigin(definition.access),
    addedLines: definition.access.kind === 'open' ? '' : varyByKeyLines,
  };
}

/** @param prefixes as in the setting `HEADER_PREFIX` */
export function declaredHeaders(
  headers: readonly HeaderDefinition[],
  prefixes: readonly string[],
): DeclaredHeaders {
  return new Map(
    headers.map(({ name, prefixed }) => {
      const fullNames = prefixed ? prefixes.map((prefix) => `${prefix}-${name}`) : [name];
      return [name.toLowerCase(), fullNames.map((full) => full.toLowerCase())];
    }),
  );
}

/** The HEAD route of a GET route. */
export function headRoute(route: ServedRoute): ServedRoute {
  return { ...route, recorded: { ...route.recorded, method: 'HEAD' } };
}

/** A route whose only parameter is the rest of the path, and its pattern for uWebSockets.js. */
export function restRoute(route: ServedRoute): { readonly route: ServedRoute; readonly pattern: string } {
  const [before = ''] = route.definition.path.split('{');
  const parametersOf = (request: HttpRequest) => [request.getUrl().slice(before.length)];
  return { route: { ...route, parametersOf }, pattern: `${before}*` };
}

const none: readonly string[] = [];

function parameterReader(count: number): ServedRoute['parametersOf'] {
  if (count === 0) return () => none;
  const indexes = Array.from({ length: count }, (_, at) => at);
  return (request) => indexes.map((at) => request.getParameter(at));
}
