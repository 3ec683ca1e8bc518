/** The loaded configuration (docs/reference/configuration.md). Immutable: a changed configuration is a new object. */

import type { PartialSchema } from '../schemas/build/build-input.ts';
import type { LookupLayout } from '../schemas/lookup-layout.ts';
import type { FullSchema, IndexSchema } from '../schemas/schema.ts';
import type { IndexPatterns } from './tenant/index-patterns.ts';
import type { AllowedOrigins } from './urls/origins.ts';
import type { UrlForm } from './urls/url.ts';

export type Scope = 'delivery' | 'routes' | 'query' | 'source' | 'changes';

/** Permissions of a management client: read, change the configuration, start actions. */
export type ManagementScope = 'read' | 'configure' | 'operate';

export interface Environment {
  readonly id: string;
  readonly alias: string;
}

export interface Source {
  readonly id: string;
  readonly name: string;
  readonly sourceGroup: string;
  /** Environments that use it. */
  readonly environments: readonly Environment[];
  /** Accepts entities without `properties`, which are then empty. */
  readonly propertiesOptional: boolean;
}

export interface SourceGroup {
  readonly alias: string;
  readonly autoIndex: boolean;
  readonly sources: readonly Source[];
}

export interface Domain {
  readonly alias: string;
  /** Lowercase; `*` as in docs/reference/configuration.md "URLs and domains". */
  readonly hostnames: readonly string[];
}

export interface Tenant {
  readonly alias: string;
  /** The configured form in which URLs are compared; `store/configuration/url-forms.ts` has the form that is in use. */
  readonly urlForm: UrlForm;
  readonly environments: readonly Environment[];
  readonly domains: readonly Domain[];
  readonly webhooks: readonly Webhook[];
  readonly sourceGroups: ReadonlyMap<string, SourceGroup>;
  /** Sources by their ids. */
  readonly sources: ReadonlyMap<string, Source>;
  readonly schemas: ReadonlyMap<string, FullSchema>;
  readonly partials: ReadonlyMap<string, PartialSchema>;
  readonly indexes: ReadonlyMap<string, IndexSchema>;
  /** Lookup indexes to maintain, by source id; sources that no lookup reads are absent. */
  readonly lookupLayouts: ReadonlyMap<string, LookupLayout>;
  /** Number of the kinds of lookups that its code has requested at run time. */
  readonly runtimeLookupCount: number;

  /** The source that a source group uses in an environment. */
  sourceIn(sourceGroup: string, environmentId: string): Source | null;
  /** Full schemas that an entity of this group and type triggers, in the order of their aliases. */
  schemasFor(sourceGroup: string, type: string): readonly FullSchema[];
  indexesFor(sourceGroup: string, type: string): readonly IndexSchema[];
}

export type WebhookFormat = 'standard' | 'enterspeed';

/** A receiver of an environment's changes. */
export interface Webhook {
  readonly alias: string;
  readonly environment: Environment;
  /** http or https. */
  readonly url: string;
  /** `whsec_` and base64; empty if a backup did not include them. */
  readonly secrets: readonly string[];
  /** Aliases of the schemas whose views it receives; null: all. */
  readonly schemas: ReadonlySet<string> | null;
  /** Receives only views whose schema names it as a destination. */
  readonly isDestination: boolean;
  /** Changes also list the views that include a changed view. */
  readonly isExpanded: boolean;
  /** Maximum number of changes in a request, and how long they are collected. */
  readonly batch: { readonly size: number; readonly seconds: number };
  readonly headers: ReadonlyMap<string, string>;
  readonly format: WebhookFormat;
}

/** The response header for cache tags, which name what a response was built from. */
export interface CacheTagHeader {
  readonly name: string;
  readonly separator: ' ' | ',';
}

/** The caller that an API key identifies. */
export type Principal = SourcePrincipal | ClientPrincipal | ManagementPrincipal;

export interface SourcePrincipal {
  readonly kind: 'source';
  readonly tenant: Tenant;
  readonly source: Source;
}

export interface ClientPrincipal {
  readonly kind: 'client';
  readonly tenant: Tenant;
  readonly environment: Environment;
  readonly name: string;
  readonly domains: readonly Domain[];
  readonly scopes: ReadonlySet<Scope>;
  /** Origins whose pages may use its keys; null: all origins. */
  readonly origins: AllowedOrigins | null;
  /** Indexes that it may query if its scopes allow queries. */
  readonly indexes: IndexPatterns;
  /** `Cache-Control` of cacheable responses; null: none is set. */
  readonly cacheControl: string | null;
  /** Null: responses have no cache tags. */
  readonly cacheTags: CacheTagHeader | null;
  /** The default depth to which references are resolved; null: all. */
  readonly depth: number | null;
}

export interface ManagementPrincipal {
  readonly kind: 'management';
  readonly tenant: Tenant;
  readonly name: string;
  readonly scopes: ReadonlySet<ManagementScope>;
}

/** The files of a configuration as transmitted and stored: path relative to CONFIG_DIR -> text, with hashed keys. */
export type ConfigDocuments = ReadonlyMap<string, string>;

export interface Configuration {
  /** Digest of the documents. */
  readonly digest: string;
  readonly tenants: ReadonlyMap<string, Tenant>;
  /** Clients of all tenants, with or without a key. */
  readonly clients: readonly ClientPrincipal[];
  /** The caller of a key, which is compared in constant time; null for an unknown key. */
  authenticate(apiKey: string): Principal | null;
}
