/** Generates the OpenAPI 3.1 document from the route table. */
import { platformVersion } from '../../../config/settings/platform-version.ts';
import type { Shape } from '../../../contract/shape.ts';
import {
  bulkIngestProblemShape,
  deliveryProblemShape,
  ingestProblemShape,
  managementProblemShape,
  multiQueryBadRequestShape,
  plainProblemShape,
  queryBadRequestShape,
  queryProblemShape,
  queryRefusalShape,
} from '../../../contract/shapes-problems.ts';
import { assert } from '../../../lib/assert.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import type { Handler } from '../../call.ts';
import type { AnswerDefinition, HeaderDefinition, RouteDefinition } from '../../route-definition.ts';
import type { Services } from '../../services.ts';
import { styleBefore } from '../problem-answer.ts';
import { routeTable } from '../route-table.ts';

/** The meaning of each error status, for the OpenAPI document. */
const problemStatusTexts: ReadonlyMap<number, string> = new Map([
  [400, 'A header was sent twice with different values, or the query is not valid'],
  [401, 'X-Api-Key is missing or unknown'],
  [403, 'The key is of another kind or lacks the scope'],
  [404, 'Not found'],
  [408, 'No data of the body for 10 s'],
  [409, 'The current state does not allow this; the message says what to do'],
  [410, 'The offset is unknown or too old'],
  [411, 'Content-Length is missing, or the body is chunked'],
  [413, 'The body is too large'],
  [415, 'The Content-Encoding is not gzip, br, deflate or identity'],
  [422, 'The request is not valid; the message says what to change'],
  [
    429,
    'The key sends more requests per second than RATE_LIMIT, or the address without a key more than OPEN_RATE_LIMIT',
  ],
  [500, 'Internal error'],
  [502, 'The receiver of the webhook did not respond, or its address is not allowed'],
  [503, 'Try again later'],
]);

const jsonMedia = 'application/json';
/** Additional statuses of every endpoint with a body. */
export const bodyStatuses: readonly number[] = [411, 413, 415];
/** Error statuses of every endpoint: 400 for a header that was sent twice. */
export const commonStatuses: readonly number[] = [400];

const tagTexts: Readonly<Record<RouteDefinition['tag'], string>> = {
  ingest: 'Source entities, with the key of a data source',
  delivery: 'Views by URL, id or handle, with the key of an environment client',
  routes: 'Every URL of an environment, for sitemaps and static builds',
  query: 'Filters, fuzzy search, sorting, facets and paging on indexes',
  changes: 'The changes of an environment, for caches, copies and builds that stay up to date',
  management: 'Contents of a tenant and explanations, with the key of a management client',
  console: 'A page that shows the management interface in a browser',
  mcp: 'Tools for language models, with the key of an environment client or a management client',
  operations: 'Health, metrics and this document',
};

const securitySchemes = {
  sourceKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'API key of a data source',
  },
  environmentKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'API key of an environment client',
  },
  managementKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'API key of a management client',
  },
  metricsBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The key of the setting METRICS_KEY, if it is set',
  },
  readerBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The key of an environment client or of a management client',
  },
  metricsKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The key of the setting METRICS_KEY, if it is set',
  },
};

export function openapi({ headerPrefixes }: Services): Handler {
  const answer: Answer = jsonAnswer(200, openapiDocument(headerPrefixes));
  return () => answer;
}

/** @param headerPrefixes as the setting `HEADER_PREFIX`; the first one names the headers */
export function openapiDocument(headerPrefixes: readonly string[]): object {
  const paths: Record<string, Record<string, object>> = {};
  const components = new OpenapiComponents();
  for (const route of routeTable) {
    const operations = paths[route.path] ?? {};
    paths[route.path] = operations;
    operations[route.method] = operationOf(route, { prefixes: headerPrefixes, components });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: platformVersion,
      description: 'Ingest source entities; get views, routes and query results.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routeTable.map(({ tag }) => tag))].map((name) => ({
      name,
      description: tagTexts[name],
    })),
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes,
    },
  };
}

/** Shared by all parts of one document. */
interface DocumentParts {
  readonly prefixes: readonly string[];
  readonly components: OpenapiComponents;
}

function operationOf(route: RouteDefinition, parts: DocumentParts): object {
  const { prefixes, components } = parts;
  const { name, tag, summary, access, body } = route;
  const security = {
    open: [],
    metrics: [{}, { metricsBearer: [] }, { metricsKey: [] }],
    source: [{ sourceKey: [] }],
    client: [{ environmentKey: [] }],
    management: [{ managementKey: [] }],
    reader: [{ environmentKey: [] }, { managementKey: [] }, { readerBearer: [] }],
  }[access.kind];
  return {
    operationId: name,
    tags: [tag],
    summary,
    security,
    ...descriptionOf(route),
    parameters: [
      ...route.parameters.map((parameter) => ({
        name: parameter.name,
        in: parameter.in,
        required: parameter.required ?? false,
        description: parameter.description,
        schema: components.schemaOf(parameter.shape),
      })),
      ...route.headers.map((header) => headerParameter(header, prefixes)),
      ...(body === undefined ? [] : [contentEncoding]),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            ...(body.description === undefined ? {} : { description: body.description }),
            content: { [jsonMedia]: { schema: components.schemaOf(body.shape), ...exampleOf(body.example) } },
          },
        }),
    responses: responsesOf(route, parts),
  };
}

function descriptionOf({ access, problems }: RouteDefinition): object {
  if (access.kind === 'client') {
    return { description: `Needs the scope \`${access.scope}\`. Pages on other origins can call it (CORS).` };
  }
  if (access.kind === 'reader') {
    return { description: 'Pages on other origins can call it with an environment key (CORS).' };
  }
  if (access.kind === 'management') return { description: `Needs the scope \`${access.scope}\`.` };
  return problems === 'ingest' || problems === 'bulkIngest'
    ? { description: 'An internal error (500) has a plain text body.' }
    : {};
}

const contentEncoding = {
  name: 'Content-Encoding',
  in: 'header',
  required: false,
  description: 'Compression of the body; the limits apply to the decompressed body',
  schema: { type: 'string', enum: ['identity', 'gzip', 'br', 'deflate'] },
};

function headerName({ name, prefixed }: HeaderDefinition, prefixes: readonly string[]): string {
  return prefixed ? `${prefixes[0] ?? 'X-Service'}-${name}` : name;
}

function headerParameter(header: HeaderDefinition, prefixes: readonly string[]): object {
  return {
    name: headerName(header, prefixes),
    in: 'header',
    required: false,
    description: header.description,
    schema: { type: 'string' },
  };
}

function responsesOf(route: RouteDefinition, parts: DocumentParts): Record<string, object> {
  const responses: Record<string, object> = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    responses[status] = responseOf(answer, parts);
  }
  const ofBody = route.body === undefined ? [] : bodyStatuses;
  const own = new Set([...commonStatuses, ...route.problemStatuses, ...ofBody]);
  for (const status of [...own].sort((a, b) => a - b)) {
    const shape = problemShape(route, status);
    // Generated clients make one type of all errors of an operation. A string among them would hide the members of the others,
    // so plain text errors are only mentioned in the description.
    if (shape !== null) responses[status] ??= problemResponse(status, shape, parts);
  }
  return responses;
}

function responseOf(answer: AnswerDefinition, { prefixes, components }: DocumentParts): object {
  const { description, shape, contentType, example, headers, alsoAs = [] } = answer;
  const media = contentType ?? (shape === undefined ? null : jsonMedia);
  const asText = alsoAs.map((type) => [type, { schema: { type: 'string' } }]);
  return {
    description,
    ...(headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            headers.map((header) => [
              headerName(header, prefixes),
              { description: header.description, schema: { type: 'string' } },
            ]),
          ),
        }),
    ...(media === null
      ? {}
      : {
          content: {
            [media]: { schema: components.schemaOf(shape ?? { type: 'string' }), ...exampleOf(example) },
            ...Object.fromEntries(asText),
          },
        }),
  };
}

function problemResponse(status: number, shape: Shape, { components }: DocumentParts): object {
  const description = problemStatusTexts.get(status);
  assert(description !== undefined, `the status ${status} has a text`);
  return {
    description,
    ...problemHeadersOf(status),
    content: { [jsonMedia]: { schema: components.schemaOf(shape) } },
  };
}

function problemHeadersOf(status: number): object {
  const header = (name: string, description: string) => ({
    headers: { [name]: { description, schema: { type: 'string' } } },
  });
  if (status === 429 || status === 503) return header('Retry-After', 'Seconds to wait');
  return status === 415 ? header('Accept-Encoding', 'The supported encodings') : {};
}

/** The shape of an error response of this status (`problemAnswer`); null for plain text. */
export function problemShape({ problems }: Pick<RouteDefinition, 'problems'>, status: number): Shape | null {
  // A header that was sent twice is the only 400 of delivery. A query that is not valid is another one.
  const isBefore = status === 411 || (status === 400 && problems === 'delivery');
  const style = isBefore ? styleBefore(problems) : problems;
  switch (style) {
    case 'plain':
      return plainProblemShape;
    case 'management':
      return managementProblemShape;
    case 'delivery':
      return deliveryProblemShape;
    case 'ingest':
      return status === 500 ? null : ingestProblemShape;
    case 'bulkIngest':
      return status === 500 ? null : bulkIngestProblemShape;
    case 'query':
      if (status === 400) return queryBadRequestShape;
      return status === 404 ? queryProblemShape : queryRefusalShape;
    case 'multiQuery':
      return status === 400 ? multiQueryBadRequestShape : queryRefusalShape;
  }
}

function exampleOf(example: unknown): object {
  return example === undefined ? {} : { example };
}

export class OpenapiComponents {
  readonly #shapes = new Map<string, Shape>();
  readonly #schemas = new Map<string, object>();

  /**
   * The schema of a shape; a reference if the shape has a name.
   * @throws Error if two different shapes have the same name
   */
  schemaOf(shape: Shape): object {
    const { component } = shape;
    if (component === undefined) return this.#written(shape);
    const known = this.#shapes.get(component);
    assert(known === undefined || known === shape, `only one shape is called ${component}`);
    if (known === undefined) {
      this.#shapes.set(component, shape);
      this.#schemas.set(component, this.#written(shape));
    }
    return { $ref: `#/components/schemas/${component}` };
  }

  /** Name -> schema of all used shapes, sorted by name. */
  get schemas(): Record<string, object> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #written({ component: _name, itemsName: _items, ...shape }: Shape): object {
    const { anyOf, items, properties, additionalProperties } = shape;
    const hasMemberShape = typeof additionalProperties === 'object';
    return {
      ...shape,
      ...(anyOf !== undefined && { anyOf: anyOf.map((one) => this.schemaOf(one)) }),
      ...(items !== undefined && { items: this.schemaOf(items) }),
      ...(properties !== undefined && { properties: this.#members(properties) }),
      ...(hasMemberShape && { additionalProperties: this.schemaOf(additionalProperties) }),
    };
  }

  #members(properties: Readonly<Record<string, Shape>>): Record<string, object> {
    return Object.fromEntries(
      Object.entries(properties).map(([name, shape]) => [name, this.schemaOf(shape)]),
    );
  }
}
