/** The columns of the route table. */
import type { Json } from '../contract/json.ts';
import { anyString, type Shape } from '../contract/shape.ts';
import type { Access } from './routing/access.ts';
import type { ProblemStyle } from './routing/problem-answer.ts';

export interface ParameterDefinition {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly shape: Shape;
  readonly description: string;
}

type MoreOnParameter = Partial<Pick<ParameterDefinition, 'required' | 'shape'>>;

/** An optional string in the query string, unless `more` says otherwise. */
export function inQuery(name: string, description: string, more: MoreOnParameter = {}): ParameterDefinition {
  return { name, in: 'query', shape: anyString, description, ...more };
}

/** A string in the path, unless `more` says otherwise. */
export function inPath(name: string, description: string, more: MoreOnParameter = {}): ParameterDefinition {
  return { name, in: 'path', required: true, shape: anyString, description, ...more };
}

export interface HeaderDefinition {
  /** Without the prefix if `prefixed`. */
  readonly name: string;
  /** Read under every prefix of `HEADER_PREFIX`. */
  readonly prefixed: boolean;
  readonly description: string;
}

/** A header that is read or sent under the prefixes of `HEADER_PREFIX`. */
export function prefixedHeader(name: string, description: string): HeaderDefinition {
  return { name, prefixed: true, description };
}

export function plainHeader(name: string, description: string): HeaderDefinition {
  return { name, prefixed: false, description };
}

export interface AnswerDefinition {
  readonly description: string;
  /** Absent if there is no JSON body. */
  readonly shape?: Shape;
  readonly contentType?: string;
  /** Content types that the client can have instead, all of them text. */
  readonly alsoAs?: readonly string[];
  readonly example?: Json;
  /** Response headers. A prefixed one is sent under the first prefix. */
  readonly headers?: readonly HeaderDefinition[];
}

export interface RouteDefinition {
  readonly name: string;
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** OpenAPI form: `/ingest/v2/{originId}`. */
  readonly path: string;
  /** Further paths of the endpoint. The documents do not list them separately. */
  readonly alsoAt?: readonly string[];
  /** The only parameter, which is the last path segment, may contain slashes, because some clients do not encode them. */
  readonly takesSlashes?: true;
  readonly tag:
    | 'ingest'
    | 'delivery'
    | 'routes'
    | 'query'
    | 'changes'
    | 'management'
    | 'console'
    | 'mcp'
    | 'operations';
  readonly summary: string;
  readonly access: Access;
  readonly problems: ProblemStyle;
  readonly parameters: readonly ParameterDefinition[];
  readonly headers: readonly HeaderDefinition[];
  /** Absent if the endpoint takes no body. */
  readonly body?: { readonly shape: Shape; readonly description?: string; readonly example?: Json };
  /** Responses by status, except the errors in `problemStatuses`. */
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /** Errors written in the style of `problems`. */
  readonly problemStatuses: readonly number[];
}

export type EndpointDefinition = Omit<RouteDefinition, 'name'>;
/** By name. */
export type Endpoints = Readonly<Record<string, EndpointDefinition>>;

/** Header of all endpoints that read (docs/reference/http.md "Reading your own writes"). */
export const minVersion = prefixedHeader(
  'Min-Version',
  'A token of an ingest response: this response shows that state or a later one (waits up to 5 s, then 503)',
);

/** Parameter of the management endpoints that read the content of an environment. */
export const managedEnvironment = inQuery('environment', 'Alias or id; optional if the tenant has only one');
