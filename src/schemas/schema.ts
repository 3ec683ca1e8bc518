/**
 * The interface of the mapping language. Everything here is pure: a schema is compiled once into closures, and building a view
 * reads nothing but its input. Only lookups need data from outside: a build that reaches a lookup without a result lists it in
 * `pending`, and is repeated with the result.
 */
import type { Cursor } from '../contract/config-cursor.ts';
import type { EntityRef } from '../contract/ids.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Resumable } from '../lib/cooperative-yield.ts';
import type { BuildInput, PartialSchema } from './build/build-input.ts';
import type { BuiltItem, BuiltView } from './build/build-outcome.ts';
import type { CodeProgram } from './code/program.ts';
import type { Collations, FieldTypeName, IndexMetadata } from './definition/index-fields.ts';
import type { IndexTexts } from './definition/index-texts.ts';
import type { LookupPlan } from './lookup-layout.ts';

interface TriggeredSchema {
  readonly alias: string;
  /** Digest of the definition and of every partial it can reach: while it is unchanged, no view of the schema can differ. */
  readonly digest: string;
  /** Source group alias -> entity types. */
  readonly triggers: ReadonlyMap<string, ReadonlySet<string>>;
  /** Every lookup that the schema or a partial it can reach may make. */
  readonly lookupPlans: readonly LookupPlan[];
  /** The source groups that its lookups and references may name; null: any. That of the entity is not one of them. */
  readonly sourceGroups: ReadonlySet<string> | null;
}

export interface FullSchema extends TriggeredSchema {
  /** True if it has a `route.url`: a view without a URL is then probably a mistake. */
  readonly claimsUrl: boolean;
  /** False for a schema in JavaScript without `properties`: it only has actions. */
  readonly makesView: boolean;
  claims(input: BuildInput): Resumable<ViewClaims>;
  build(input: BuildInput): Resumable<BuiltView>;
  readonly hasActions: boolean;
  actions(input: BuildInput): ResolvedAction[];
  /** Webhooks that receive the view; they depend only on the entity. */
  destinations(input: BuildInput): ResolvedDestination[];
}

export interface IndexSchema extends TriggeredSchema {
  readonly fields: ReadonlyMap<string, FieldTypeName>;
  /** Names of all fields that the schema declares, in the order of an item's fields. */
  readonly names: readonly string[];
  readonly texts: IndexTexts;
  readonly collations: Collations;
  readonly metadata: IndexMetadata;
  build(input: BuildInput): Resumable<BuiltItem>;
}

/** Claims of a view; those of JSON schemas depend only on the entity. */
export interface ViewClaims {
  /** The first of its URLs. */
  readonly url: string | null;
  /** Without empty handles and duplicates, in the order of the schema. */
  readonly handles: readonly string[];
  /** Some handles or URLs are omitted: there are more than a view may have, or one is too long. */
  readonly areCut?: true;
  /** Some URLs or redirects from code are omitted, because no request can have them. */
  readonly areUnusable?: true;
  /** True until code has returned the claims. */
  readonly areUnknown?: true;
  /** All its URLs, including `url`, with the redirects to each; absent: the entity's redirects lead to `url`. */
  readonly pages?: readonly { readonly url: string; readonly redirects: readonly string[] }[];
}

/** An `actions` entry with its expressions evaluated: which views to process again. */
export interface ResolvedAction extends EntityRef {
  /** Schema alias, or null for all views of the entity. */
  readonly alias: string | null;
}

/** A `destinations` entry with its expressions evaluated. */
export interface ResolvedDestination {
  /** Alias of a webhook. */
  readonly alias: string;
  readonly options: JsonObject;
  /** The options are omitted because they are too long. */
  readonly areCut?: true;
}

/** The parsed files of one tenant, each at its root, by alias. */
export interface SchemaSources {
  /** Alias of the tenant, whose code runs isolated from that of other tenants. Absent if no code runs. */
  readonly tenant?: string;
  /** Aliases of all source groups of the tenant. */
  readonly sourceGroups: readonly string[];
  readonly schemas: ReadonlyMap<string, Cursor>;
  readonly partials: ReadonlyMap<string, Cursor>;
  readonly indexes: ReadonlyMap<string, Cursor>;
  /** Schemas in JavaScript; absent: none. */
  readonly code?: readonly CodeProgram[];
}

export interface CompiledSchemas {
  readonly schemas: ReadonlyMap<string, FullSchema>;
  readonly partials: ReadonlyMap<string, PartialSchema>;
  readonly indexes: ReadonlyMap<string, IndexSchema>;
}
