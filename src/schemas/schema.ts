/**
 * What the mapping language promises to the rooms above it. Everything here is pure: a schema is compiled once into
 * closures; building a view reads its input and nothing else. Lookups are the one thing a build needs from outside.
 * A build that meets a lookup without a result names it in `pending`, and is run again with the result.
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
import type { LookupPlan } from './lookup-plan.ts';

interface TriggeredSchema {
  readonly alias: string;
  /** Digest of the definition and of every partial it can reach: unchanged means that no view of it can differ. */
  readonly digest: string;
  /** Source group alias -> entity types. */
  readonly triggers: ReadonlyMap<string, ReadonlySet<string>>;
  /** Every lookup that it or a partial it can reach may do. */
  readonly lookupPlans: readonly LookupPlan[];
}

export interface FullSchema extends TriggeredSchema {
  /** True when it has a `route.url`: a view without a URL is then probably a mistake. */
  readonly claimsUrl: boolean;
  /** False for a schema in JavaScript without `properties`: its actions are all that it does. */
  readonly makesView: boolean;
  claims(input: BuildInput): Resumable<ViewClaims>;
  build(input: BuildInput): Resumable<BuiltView>;
  readonly hasActions: boolean;
  actions(input: BuildInput): ResolvedAction[];
  /** Webhooks that the view is meant for; they depend on the entity alone. */
  destinations(input: BuildInput): ResolvedDestination[];
}

export interface IndexSchema extends TriggeredSchema {
  readonly fields: ReadonlyMap<string, FieldTypeName>;
  /** Names of all fields, in the order in which items have theirs, as far as the schema says it. */
  readonly names: readonly string[];
  readonly texts: IndexTexts;
  readonly collations: Collations;
  readonly metadata: IndexMetadata;
  build(input: BuildInput): Resumable<BuiltItem>;
}

/** Claims of a view; those of JSON schemas depend on the entity alone. */
export interface ViewClaims {
  /** The first of its URLs. */
  readonly url: string | null;
  /** Without empty ones and without repetition, in the order of the schema. */
  readonly handles: readonly string[];
  /** Handles or URLs are left out: there are more than one view may have, or one is too long. */
  readonly areCut?: true;
  /** True while code has not said them yet. */
  readonly areUnknown?: true;
  /** All its URLs, `url` among them, with what leads to each; absent: the entity's redirects lead to `url`. */
  readonly pages?: readonly { readonly url: string; readonly redirects: readonly string[] }[];
}

/** An `actions` entry with its expressions evaluated: which views to process again. */
export interface ResolvedAction extends EntityRef {
  /** Schema alias, or null for all of the entity. */
  readonly alias: string | null;
}

/** A `destinations` entry with its expressions evaluated. */
export interface ResolvedDestination {
  /** Of a webhook. */
  readonly alias: string;
  readonly options: JsonObject;
  /** The options are left out: they are too long. */
  readonly areCut?: true;
}

/** The parsed files of one tenant, each at its root, by alias. */
export interface SchemaSources {
  /** Alias of the tenant: its code runs apart from that of others. Absent where no code is run. */
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
  readonly hasCode: boolean;
}
