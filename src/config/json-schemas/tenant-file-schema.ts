import {
  apiKeyCharactersMax,
  cacheControlCharactersMax,
  deliveryDepthMax,
  originsPerClientMax,
  webhookBatchSecondsMax,
  webhookBatchSizeMax,
  webhookHeadersMax,
  webhooksPerTenantMax,
  webhookUrlCharactersMax,
} from '../../contract/limits.ts';
import { clientScopeNames } from '../tenant/environment-clients.ts';
import { managementScopes } from '../tenant/management-clients.ts';
import { webhookFormats } from '../tenant/read-webhooks.ts';
import {
  alias,
  fileOf,
  filledText,
  id,
  type JsonSchema,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  told,
  truth,
} from './forms.ts';

const apiKeys = told(
  'API keys: each as itself, or as "sha256:" and the 64 hex digits of its digest.',
  listOf({ type: 'string', pattern: '^[!-~]+$', maxLength: apiKeyCharactersMax }),
);

const environment = objectOf({ id: told('Part of view ids; it cannot be changed later.', id), alias }, [
  'id',
  'alias',
]);

const source = objectOf(
  {
    id: told('Part of view ids; it cannot be changed later.', id),
    name: filledText,
    environments: told('Aliases of the environments that use it.', listOf(filledText)),
    propertiesOptional: told(
      'An entity without "properties" counts as one with {}; absent: it is refused.',
      truth,
    ),
    apiKeys,
  },
  ['id', 'environments'],
);

const sourceGroup = objectOf(
  {
    alias,
    autoIndex: told('Each entity type is indexed by itself, with its top-level properties as fields.', truth),
    sources: listOf(source),
  },
  ['alias'],
);

const domain = objectOf(
  { alias, hostnames: told('"*": relative URLs, and any host.', listOf(filledText, { minItems: 1 })) },
  ['alias', 'hostnames'],
);

const client = objectOf(
  {
    name: filledText,
    environment: told('Alias of what it reads.', filledText),
    domains: told('Aliases; absent: all.', listOf(filledText)),
    scopes: told('What it may ask for; absent: everything.', listOf(oneOf(clientScopeNames))),
    indexes: told(
      'Patterns of the indexes that it may query, "blog*", and of types of source groups, "cms:*".',
      listOf({ type: 'string', pattern: '^[A-Za-z0-9_*-]+(?::[\\s\\S]+)?$' }),
    ),
    origins: told(
      'Origins whose pages may use its keys; absent: all.',
      listOf(filledText, { maxItems: originsPerClientMax }),
    ),
    cacheControl: told('Cache-Control of what caches may keep.', {
      ...filledText,
      maxLength: cacheControlCharactersMax,
    }),
    cacheTags: told(
      'The header in which a cache reads tags: "Cache-Tag", "Surrogate-Key", "xkey".',
      filledText,
    ),
    depth: told(
      'How deep references are resolved where a request does not say it; absent: all are.',
      wholeNumber(0, deliveryDepthMax),
    ),
    apiKeys,
  },
  ['environment'],
);

const managementClient = objectOf({
  name: filledText,
  scopes: told('Absent: all.', listOf(oneOf(managementScopes))),
  apiKeys,
});

const webhook = objectOf(
  {
    alias,
    environment: filledText,
    url: { ...filledText, maxLength: webhookUrlCharactersMax },
    secret: told('"whsec_" and base64; a list of two while one replaces the other.', {
      anyOf: [filledText, listOf(filledText, { minItems: 1, maxItems: 2 })],
    }),
    schemas: told('Aliases; absent: all.', listOf(filledText)),
    destination: told('Only views whose schema names it in "destinations".', truth),
    expand: told('Say where else a changed view is shown.', oneOf(['shown'])),
    batch: objectOf({
      size: wholeNumber(1, webhookBatchSizeMax),
      seconds: wholeNumber(0, webhookBatchSecondsMax),
    }),
    headers: { ...mapOf(filledText), maxProperties: webhookHeadersMax },
    format: oneOf(webhookFormats),
  },
  ['alias', 'environment', 'url', 'secret'],
);

function wholeNumber(minimum: number, maximum: number): JsonSchema {
  return { type: 'integer', minimum, maximum };
}

export const tenantFileSchema = fileOf('tenant.json of a tenant of Millrace', {
  environments: told('Where views are served: production, staging.', listOf(environment)),
  sourceGroups: told('Where entities come from.', listOf(sourceGroup)),
  domains: told('Hosts on which URLs are served.', listOf(domain)),
  urls: objectOf({ caseInsensitive: told('Paths are compared in lower case.', truth) }),
  environmentClients: told('Who may read.', listOf(client)),
  managementClients: told('Who may look after the tenant.', listOf(managementClient)),
  webhooks: told('Who is sent the changes.', listOf(webhook, { maxItems: webhooksPerTenantMax })),
});
