/** The loaded configuration (docs/reference/configuration.md). Immutable: a changed configuration is a new object. */

import type { LookupLayout } from '../schemas/lookup/layout.ts';
import type { FullSchema, IndexSchema, PartialSchema } from '../schemas/schema.ts';

export type Scope = 'delivery' | 'routes' | 'query' | 'source';

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
}

export interface SourceGroup {
  readonly alias: string;
  readonly autoIndex: boolean;
  readonly sources: readonly Source[];
}

export interface Domain {
  readonly alias: string;
  /** Lower-cased; `*` as in docs/reference/configuration.md "URLs and domains". */
  readonly hostnames: readonly string[];
}

export interface Tenant {
  readonly alias: string;
  readonly environments: readonly Environment[];
  readonly sourceGroups: ReadonlyMap<string, SourceGroup>;
  /** Sources by their ids. */
  readonly sources: ReadonlyMap<string, Source>;
  readonly schemas: ReadonlyMap<string, FullSchema>;
  readonly partials: ReadonlyMap<string, PartialSchema>;
  readonly indexes: ReadonlyMap<string, IndexSchema>;
  /** Lookup indexes to keep, by source id; sources that no lookup reads are absent. */
  readonly lookupLayouts: ReadonlyMap<string, LookupLayout>;

  /** The source that a source group uses in an environment. */
  sourceIn(sourceGroup: string, environmentId: string): Source | null;
  /** Full schemas that an entity of this group and type triggers, in the order of their aliases. */
  schemasFor(sourceGroup: string, type: string): readonly FullSchema[];
  indexesFor(sourceGroup: string, type: string): readonly IndexSchema[];
}

/** The caller that an API key stands for. */
export type Principal = SourcePrincipal | ClientPrincipal;

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
}

/** The files of a configuration as they travel and are stored: path relative to CONFIG_DIR -> text, keys hashed. */
export type ConfigDocuments = ReadonlyMap<string, string>;

export interface Configuration {
  /** Digest of the documents. */
  readonly digest: string;
  readonly tenants: ReadonlyMap<string, Tenant>;
  /** Clients of all tenants, with or without a key. */
  readonly clients: readonly ClientPrincipal[];
  /** The caller of a key, found in constant time over the key's text; null when there is no such key. */
  authenticate(apiKey: string): Principal | null;
}
