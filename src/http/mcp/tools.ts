/**
 * The tools that a key may use (docs/reference/mcp.md). Each calls one endpoint of the route table, and has its results and
 * errors.
 */
import type { ClientPrincipal, ManagementPrincipal, Principal } from '../../config/configuration.ts';
import { type Problem, ProblemError } from '../../contract/errors.ts';
import { getOwn, type Json, type JsonObject } from '../../contract/json.ts';
import { deliveryDepthMax, routesPageMax, urlCodePointsMax } from '../../contract/limits.ts';
import type { Shape } from '../../contract/shape.ts';
import { previewBodyShape } from '../../contract/shapes-management.ts';
import { queryBodyShape } from '../../contract/shapes-query.ts';
import type { IndexSchema } from '../../schemas/schema.ts';
import { Call, type CallBody, type CallHead } from '../call.ts';
import type { RouteName } from '../routing/route-table.ts';

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** The endpoint that the tool calls. */
  readonly endpoint: RouteName;
  requestOf(given: JsonObject): EndpointRequest;
}

export function toolsOf(principal: ClientPrincipal | ManagementPrincipal): readonly Tool[] {
  return principal.kind === 'client' ? clientTools(principal) : managementTools(principal);
}

function clientTools({ scopes, tenant, indexes }: ClientPrincipal): readonly Tool[] {
  const queried = scopes.has('query') ? [...tenant.indexes.values()] : [];
  return [
    ...(scopes.has('delivery') ? deliveryTools : []),
    ...(scopes.has('routes') ? [listRoutes] : []),
    ...queried.filter(({ alias }) => indexes.allowsIndex(alias)).map(queryTool),
  ];
}

function managementTools({ scopes }: ManagementPrincipal): readonly Tool[] {
  return scopes.has('read') ? [explainView, explainUrl, preview, diagnostics] : [];
}

type Texts = Readonly<Record<string, string>>;

/**
 * The JSON Schema of string arguments.
 * @param texts name -> description
 * @param required names of required arguments
 * @param others JSON Schemas of further arguments
 */
function textArguments(texts: Texts, required: readonly string[], others: JsonObject = {}): JsonObject {
  const ofTexts = Object.fromEntries(
    Object.entries(texts).map(([name, description]) => [name, { type: 'string', description }]),
  );
  const properties = { ...ofTexts, ...others };
  return { type: 'object', properties, required: [...required], additionalProperties: false };
}

/** Passes the given arguments as query parameters. @param names argument -> parameter */
function asQuery(given: JsonObject, names: Texts): EndpointRequest {
  const entries = Object.entries(names).flatMap(([name, parameter]): [string, string][] => {
    const value = getOwn(given, name);
    return typeof value === 'string' || typeof value === 'number' ? [[parameter, String(value)]] : [];
  });
  return { query: Object.fromEntries(entries) };
}

const depthArgument: JsonObject = {
  type: 'integer',
  minimum: 0,
  maximum: deliveryDepthMax,
  description: 'Depth of references: deeper ones are null and listed; absent: the default of the client',
};

function delivery(name: 'url' | 'handle' | 'id', what: string, description: string): Tool {
  return {
    name: `deliver_by_${name}`,
    description,
    inputSchema: textArguments({ [name]: what }, [name], { depth: depthArgument }),
    endpoint: 'deliver',
    requestOf: (given) => asQuery(given, { [name]: name, depth: 'depth' }),
  };
}

const deliveryTools: readonly Tool[] = [
  delivery(
    'url',
    `A path such as /europe/france, or an absolute URL, of at most ${urlCodePointsMax} characters`,
    'The page of a URL: `route` is its view, `meta.status` 200, 301 (see `meta.redirect`) or 404.',
  ),
  delivery('handle', 'A handle', 'The view with a handle, in `views` under the handle.'),
  delivery('id', 'A view id: gid://Environment/…/View/…', 'The view with an id, in `views` under the id.'),
];

const listRoutes: Tool = {
  name: 'list_routes',
  description: `The URLs of all pages and redirects, in order, up to ${routesPageMax} at a time.`,
  inputSchema: textArguments(
    { after: '`continuationToken` of the previous response; absent: the first page' },
    [],
  ),
  endpoint: 'listRoutesV2',
  requestOf: (given) => asQuery(given, { after: 'continuationToken' }),
};

function queryTool(index: IndexSchema): Tool {
  return {
    name: `query_${index.alias}`,
    description: indexDescription(index),
    inputSchema: plainSchema(queryBodyShape),
    endpoint: 'queryIndex',
    requestOf: (given) => ({ parameters: [index.alias], body: given }),
  };
}

function indexDescription({ alias, fields, metadata }: IndexSchema): string {
  const lines = [...fields].map(([name, type]) => {
    const description = metadata.fields.get(name);
    return `- ${name}: ${type}${description === undefined ? '' : `, ${textOf(description)}`}`;
  });
  const description = metadata.index === null ? [] : [textOf(metadata.index)];
  return [`Searches and filters the index ${alias}.`, ...description, 'Fields:', ...lines].join('\n');
}

function textOf(description: Json): string {
  return typeof description === 'string' ? description : JSON.stringify(description);
}

const explainView: Tool = {
  name: 'explain_view',
  description:
    'Explains a view: its sources, the views that it shows, the views that show it, and the cause of its last change.',
  inputSchema: textArguments({ id: 'Id of the view: gid://Environment/…/View/…' }, ['id']),
  endpoint: 'explainView',
  requestOf: (given) => asQuery(given, { id: 'id' }),
};

const explainUrl: Tool = {
  name: 'explain_url',
  description:
    'Explains the response to a URL: host, domain, the views that claim it, and which one is served.',
  inputSchema: textArguments(
    {
      url: 'As for delivery',
      environment: 'Alias or id; optional if there is only one',
      client: 'Name of the environment client whose domains apply; by default the first',
    },
    ['url'],
  ),
  endpoint: 'explainUrl',
  requestOf: (given) => asQuery(given, { url: 'url', environment: 'environment', client: 'client' }),
};

const preview: Tool = {
  name: 'preview',
  description: 'Shows what a schema makes of an entity. Neither has to be stored, and nothing is stored.',
  inputSchema: plainSchema(previewBodyShape),
  endpoint: 'managementPreview',
  requestOf: (given) => ({ body: given }),
};

const diagnostics: Tool = {
  name: 'diagnostics',
  description:
    'Lists what is valid but probably a mistake, with the place in the schema and an example entity.',
  inputSchema: textArguments({ after: '`next` of the previous response; absent: the first page' }, []),
  endpoint: 'managementDiagnostics',
  requestOf: (given) => asQuery(given, { after: 'after' }),
};

/** A shape as self-contained JSON Schema: named parts are inlined. */
function plainSchema(shape: Shape): JsonObject {
  const isName = (key: string, value: unknown) =>
    (key === 'component' || key === 'itemsName') && typeof value === 'string';
  return JSON.parse(JSON.stringify(shape, (key, value) => (isName(key, value) ? undefined : value)));
}

/** The request of a tool to an endpoint. */
interface EndpointRequest {
  readonly query?: Readonly<Record<string, string>>;
  /** Path parameters, in order. */
  readonly parameters?: readonly string[];
  readonly body?: unknown;
}

export function callOf(principal: Principal, request: EndpointRequest): Call {
  const { query = {}, parameters = [], body } = request;
  const head: CallHead = {
    query: new URLSearchParams(query).toString(),
    headers: { of: () => '' },
    declared: new Map(),
    parameters: parameters.map(encodeURIComponent),
  };
  return new Call(
    head,
    principal,
    body === undefined ? null : new GivenBody(Buffer.from(JSON.stringify(body))),
  );
}

/** A body that is already in memory. */
class GivenBody implements CallBody {
  readonly isPacked = false;

  constructor(private readonly given: Buffer<ArrayBuffer>) {}

  get announcedBytes(): number {
    return this.given.length;
  }

  release(): void {}

  async bytes(bytesMax: number, tooLarge: Problem): Promise<Buffer<ArrayBuffer>> {
    if (this.given.length > bytesMax) throw new ProblemError(tooLarge);
    return this.given;
  }

  async read(consume: (piece: Uint8Array) => void, bytesMax: number, tooLarge: Problem): Promise<void> {
    consume(await this.bytes(bytesMax, tooLarge));
  }
}
