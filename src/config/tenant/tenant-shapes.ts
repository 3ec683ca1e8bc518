/** Shapes of `tenant.json` and its parts (docs/reference/configuration.md "tenant.json"). */

import {
  described,
  type JsonSchema,
  listOf,
  mapOf,
  nonEmptyString,
  objectOf,
  oneOf,
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
import { anyBoolean } from '../../contract/shape.ts';
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
  'API keys, in plain text or as "sha256:" and the 64 hex digits of the digest.',
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
      'True: a missing "properties" counts as {}. Default: such an entity is rejected.',
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
      'Each entity type gets its own index, with its top-level properties as fields.',
      anyBoolean,
    ),
    sources: listOf(sourceShape),
  },
  ['alias'],
);

export const domainShape = objectOf(
  {
    alias,
    hostnames: described(
      '"*" matches relative URLs and every host.',
      listOf(nonEmptyString, { minItems: 1 }),
    ),
  },
  ['alias', 'hostnames'],
);

export const depthShape = described(
  'Maximum depth of references, unless a request sets it. Default: no limit.',
  wholeNumber(0, deliveryDepthMax),
);

export const clientShape = objectOf(
  {
    name: nonEmptyString,
    environment: described('Alias of the environment that it reads.', nonEmptyString),
    domains: described('Aliases. Default: all.', listOf(nonEmptyString)),
    scopes: described(
      'Interfaces that it may use. Default: all.',
      listOf(oneOf([...clientScopes, ...[...hostedScopes.keys()].map(String)])),
    ),
    indexes: described(
      'Patterns of the indexes that it may query ("blog*") and of types of source groups ("cms:*").',
      listOf({ type: 'string', pattern: '^[A-Za-z0-9_*-]+(?::[\\s\\S]+)?$' }),
    ),
    origins: described(
      'Origins whose pages may use its keys. Default: all.',
      listOf(nonEmptyString, { maxItems: originsPerClientMax }),
    ),
    cacheControl: described('Cache-Control header of cacheable responses.', {
      ...nonEmptyString,
      maxLength: cacheControlCharactersMax,
    }),
    cacheTags: described(
      'Header from which a cache reads tags: "Cache-Tag", "Surrogate-Key" or "xkey".',
      nonEmptyString,
    ),
    depth: depthShape,
    apiKeys,
  },
  ['environment'],
);

export const managementClientShape = objectOf({
  name: nonEmptyString,
  scopes: described('Default: all.', listOf(oneOf(managementScopes))),
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
    secret: described('"whsec_" and base64. A list of two while one replaces the other.', {
      anyOf: [nonEmptyString, listOf(nonEmptyString, { minItems: 1, maxItems: 2 })],
    }),
    schemas: described('Aliases. Default: all.', listOf(nonEmptyString)),
    destination: described('True: only views whose schema lists it in "destinations".', anyBoolean),
    expand: described('"shown": changes also list where else a view is shown.', oneOf(['shown'])),
    batch: batchShape,
    headers: { ...mapOf(nonEmptyString), maxProperties: webhookHeadersMax },
    format: oneOf(webhookFormats),
  },
  ['alias', 'environment', 'url', 'secret'],
);

export const urlsShape = objectOf({
  caseInsensitive: described('Paths are compared in lower case.', anyBoolean),
});

export const tenantShape = objectOf({
  environments: described('Targets of delivery, such as production and staging.', listOf(environmentShape)),
  sourceGroups: described('Origins of entities, such as a CMS.', listOf(sourceGroupShape)),
  domains: described('Hosts that serve URLs.', listOf(domainShape)),
  urls: urlsShape,
  environmentClients: described('Clients of the read interfaces.', listOf(clientShape)),
  managementClients: described('Clients of the management interface.', listOf(managementClientShape)),
  webhooks: described('Receivers of changes.', listOf(webhookShape, { maxItems: webhooksPerTenantMax })),
});
