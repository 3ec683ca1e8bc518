/** Shapes of `tenant.json` and its parts (docs/reference/configuration.md "tenant.json"). */

import {
  described,
  nonEmptyString,
  type JsonSchema,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  anyBoolean,
  wholeNumber,
} from '../../contract/document-shape.ts';
import { aliasPattern } from '../../contract/ids.ts';
import type { Json } from '../../contract/json.ts';
import {
  apiKeyCharactersMax,
  cacheControlCharactersMax,
  configNameCharactersMax,
  deliveryDepthMax,
  originsPerClientMax,
  webhookBatchSecondsMax,
  webhookBatchSizeMax,
  webhookHeadersMax,
  webhooksPerTenantMax,
  webhookUrlCharactersMax,
} from '../../contract/limits.ts';
import type { ManagementScope, Scope, WebhookFormat } from '../configuration.ts';
import { idPattern } from '../document-path.ts';
import { plainKeyPattern } from './api-keys.ts';

export const clientScopes: readonly Scope[] = ['delivery', 'routes', 'query', 'source', 'changes'];
/** Scope names of the hosted service, where `Query` includes source groups. */
export const hostedScopes: ReadonlyMap<Json | undefined, readonly Scope[]> = new Map([
  ['Delivery', ['delivery']],
  ['Routes', ['routes']],
  ['Query', ['query', 'source']],
] as const);
export const managementScopes: readonly ManagementScope[] = ['read', 'configure', 'operate'];
export const webhookFormats: readonly WebhookFormat[] = ['standard', 'enterspeed'];

const alias = nameOf(aliasPattern);
const id = nameOf(idPattern);

function nameOf({ source }: RegExp): JsonSchema {
  return { type: 'string', pattern: source, maxLength: configNameCharactersMax };
}

const apiKeys = described(
  'API keys: each as itself, or as "sha256:" and the 64 hex digits of its digest.',
  listOf({ type: 'string', pattern: plainKeyPattern.source, maxLength: apiKeyCharactersMax }),
);

export const environmentShape = objectOf(
  { id: described('Part of view ids; it cannot be changed later.', id), alias },
  ['id', 'alias'],
);

export const sourceShape = objectOf(
  {
    id: described('Part of view ids; it cannot be changed later.', id),
    name: nonEmptyString,
    environments: described('Aliases of the environments that use it.', listOf(nonEmptyString)),
    propertiesOptional: described(
      'An entity without "properties" counts as one with {}; absent: it is refused.',
      anyBoolean,
    ),
    apiKeys,
  },
  ['id', 'environments'],
);

export const sourceGroupShape = objectOf(
  {
    alias,
    autoIndex: described(
      'Each entity type is indexed by itself, with its top-level properties as fields.',
      anyBoolean,
    ),
    sources: listOf(sourceShape),
  },
  ['alias'],
);

export const domainShape = objectOf(
  { alias, hostnames: described('"*": relative URLs, and any host.', listOf(nonEmptyString, { minItems: 1 })) },
  ['alias', 'hostnames'],
);

export const depthShape = described(
  'How deep references are resolved where a request does not say it; absent: all are.',
  wholeNumber(0, deliveryDepthMax),
);

export const clientShape = objectOf(
  {
    name: nonEmptyString,
    environment: described('Alias of what it reads.', nonEmptyString),
    domains: described('Aliases; absent: all.', listOf(nonEmptyString)),
    scopes: described(
      'What it may ask for; absent: everything.',
      listOf(oneOf([...clientScopes, ...[...hostedScopes.keys()].map(String)])),
    ),
    indexes: described(
      'Patterns of the indexes that it may query, "blog*", and of types of source groups, "cms:*".',
      listOf({ type: 'string', pattern: '^[A-Za-z0-9_*-]+(?::[\\s\\S]+)?$' }),
    ),
    origins: described(
      'Origins whose pages may use its keys; absent: all.',
      listOf(nonEmptyString, { maxItems: originsPerClientMax }),
    ),
    cacheControl: described('Cache-Control of what caches may keep.', {
      ...nonEmptyString,
      maxLength: cacheControlCharactersMax,
    }),
    cacheTags: described(
      'The header in which a cache reads tags: "Cache-Tag", "Surrogate-Key", "xkey".',
      nonEmptyString,
    ),
    depth: depthShape,
    apiKeys,
  },
  ['environment'],
);

export const managementClientShape = objectOf({
  name: nonEmptyString,
  scopes: described('Absent: all.', listOf(oneOf(managementScopes))),
  apiKeys,
});

export const batchMembers = {
  size: wholeNumber(1, webhookBatchSizeMax),
  seconds: wholeNumber(0, webhookBatchSecondsMax),
};
export const batchShape = objectOf(batchMembers);

export const webhookShape = objectOf(
  {
    alias,
    environment: nonEmptyString,
    url: { ...nonEmptyString, maxLength: webhookUrlCharactersMax },
    secret: described('"whsec_" and base64; a list of two while one replaces the other.', {
      anyOf: [nonEmptyString, listOf(nonEmptyString, { minItems: 1, maxItems: 2 })],
    }),
    schemas: described('Aliases; absent: all.', listOf(nonEmptyString)),
    destination: described('Only views whose schema names it in "destinations".', anyBoolean),
    expand: described('Say where else a changed view is shown.', oneOf(['shown'])),
    batch: batchShape,
    headers: { ...mapOf(nonEmptyString), maxProperties: webhookHeadersMax },
    format: oneOf(webhookFormats),
  },
  ['alias', 'environment', 'url', 'secret'],
);

export const urlsShape = objectOf({ caseInsensitive: described('Paths are compared in lower case.', anyBoolean) });

export const tenantShape = objectOf({
  environments: described('Where views are served: production, staging.', listOf(environmentShape)),
  sourceGroups: described('Where entities come from.', listOf(sourceGroupShape)),
  domains: described('Hosts on which URLs are served.', listOf(domainShape)),
  urls: urlsShape,
  environmentClients: described('Who may read.', listOf(clientShape)),
  managementClients: described('Who may look after the tenant.', listOf(managementClientShape)),
  webhooks: described('Who is sent the changes.', listOf(webhookShape, { maxItems: webhooksPerTenantMax })),
});
