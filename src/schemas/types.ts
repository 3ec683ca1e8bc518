/**
 * What the mapping language promises to the rooms above it. Everything here is pure: a schema is compiled once into
 * closures; building a view reads its input and nothing else. Lookups are the one thing a build needs from outside:
 * a build that meets a lookup whose result it was not given names it in `pending` and is run again with the result.
 */
import type { Diagnostic } from '../contract/diagnostic.ts';
import type { StoredEntity } from '../contract/entity.ts';
import type { EntityRef, ViewRef } from '../contract/ids.ts';
import type { Json, JsonObject } from '../contract/json.ts';
import type { Evaluate } from './language/scope.ts';

/** A path into an entity: `['properties', 'tags']`, `['type']`. */
export type PropertyPath = readonly string[];

/** One property index that lookups read: the entities of `type` under each scalar value found at `path`. */
export interface LookupIndex {
  /** Entity type, or `*` for all. */
  readonly type: string;
  /**
   * `value`: one key for each scalar at `path`, arrays along the way and at the end spread;
   * `text`: one key for all entities that have a text at `path` (what a substring search must read);
   * `all`: one key for all entities of the type (path is empty).
   */
  readonly kind: 'value' | 'text' | 'all';
  readonly path: PropertyPath;
}

/** What one `$lookup` of a schema may read, known when the schema is compiled. */
export interface LookupPlan {
  /** Source group alias that it names, or null for the asking entity's own. */
  readonly sourceGroup: string | null;
  readonly indexes: readonly LookupIndex[];
  /** Paths that its condition and its order read. */
  readonly reads: readonly PropertyPath[];
}

/** The indexes that are kept for one source: the union of what all plans over it need. */
export interface LookupLayout {
  /** Digest; two equal layouts have equal ids. */
  readonly id: string;
  readonly indexes: readonly LookupIndex[];
  /** Paths whose values every index entry carries, so that a lookup is answered from the index alone. */
  readonly projection: readonly PropertyPath[];
}

/** An index entry as the store hands it back. `values` stand in the order of the layout's `projection`. */
export interface LookupCandidate {
  readonly originId: string;
  readonly values: readonly Json[];
}

/** A `$lookup` with its holes filled in. */
export interface LookupQuery {
  /** Canonical text: two queries of equal text have equal results. */
  readonly id: string;
  readonly sourceGroup: string | null;
  /** Index keys whose entries together hold every match; empty when nothing can match. */
  readonly keys: readonly string[];
  readonly place: string;
  /** True when the layout has all the indexes and values that the lookup reads: it may be that of other schemas. */
  isAnsweredBy(layout: LookupLayout): boolean;
  /**
   * Chooses, orders and cuts. Candidates may come in any order and repeat.
   * `cut` is true when more than `lookupResultsMax` matched and the asked `top` did not hide it.
   */
  select(layout: LookupLayout, candidates: Iterable<LookupCandidate>): Selected;
  /** As `select`, of candidates that come in portions. */
  selection(layout: LookupLayout): LookupSelection;
}

export interface LookupSelection {
  add(candidates: Iterable<LookupCandidate>): void;
  /** What was chosen of all that was added. */
  result(): Selected;
}

export interface Selected {
  readonly originIds: string[];
  readonly cut: boolean;
}

/** What one build works on. */
export interface BuildInput {
  readonly entity: StoredEntity;
  readonly environmentId: string;
  /** Source that a source group uses in this environment; null when it has none. */
  resolveSource(sourceGroup: string): string | null;
  /** Result of a lookup, or undefined when it is not known yet. */
  lookup(query: LookupQuery): readonly StoredEntity[] | undefined;
  partial(alias: string): PartialSchema | undefined;
}

/** A place of a view where another view is put at delivery. */
export interface ReferencePiece {
  /** The view meant; null when what was given names none. */
  readonly target: ViewRef | null;
  /** What was given where there is no target, else null. */
  readonly viewId: string | null;
  /** Where in the view, as it follows the view's own path: `.author`, `.related[1]`, `['a b'].x`. */
  readonly path: string;
}

/** JSON text cut at its references: `texts[0] references[0] texts[1] … texts[n]`. */
export interface ViewBody {
  readonly texts: readonly string[];
  readonly references: readonly ReferencePiece[];
}

/** An `actions` entry with its expressions evaluated: which views to process again. */
export interface ResolvedAction extends EntityRef {
  /** Schema alias, or null for all of the entity. */
  readonly alias: string | null;
}

export interface BuildOutcome {
  /** Lookups that were met. */
  readonly lookups: readonly LookupQuery[];
  /** Those of them that `lookup` did not know; while there are any the rest of the outcome is provisional. */
  readonly pending: readonly LookupQuery[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface BuiltView extends BuildOutcome {
  readonly body: ViewBody;
}

export interface BuiltItem extends BuildOutcome {
  /** Mapped values, not yet fitted to the types of the index. */
  readonly fields: JsonObject;
  /** What `JSON.stringify` makes of `fields`, where the build has it anyway. */
  readonly fieldsText: string | null;
}

/** Claims of a view; they depend on the entity alone. */
export interface ViewClaims {
  readonly url: string | null;
  /** Without empty ones and without repetition, in the order of the schema. */
  readonly handles: readonly string[];
}

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
  /** It has a `route.url`, so a view without a URL is probably not meant. */
  readonly claimsUrl: boolean;
  claims(input: BuildInput): ViewClaims;
  build(input: BuildInput): BuiltView;
  actions(input: BuildInput): ResolvedAction[];
}

export interface IndexSchema extends TriggeredSchema {
  readonly fields: ReadonlyMap<string, FieldTypeName>;
  build(input: BuildInput): BuiltItem;
}

/** Opaque to other rooms. */
export interface PartialSchema {
  readonly alias: string;
  readonly digest: string;
}

/** Types that an index schema may give a field (contract section 2, "Index schema"). */
export type ScalarFieldType =
  | 'keyword'
  | 'text'
  | 'integer'
  | 'long'
  | 'float'
  | 'double'
  | 'boolean'
  | 'date';
export type RangeFieldType = 'integerRange' | 'longRange' | 'floatRange' | 'doubleRange' | 'dateRange';
export type FieldTypeName = ScalarFieldType | `${ScalarFieldType}[]` | RangeFieldType | 'object';

/**
 * Put around each path of an expression while a schema is compiled, by who wants to know what paths give.
 * @param at the place of the expression in its file @param path as it is written: `p.title`
 */
export type PathObserver = (at: PlaceInFile, path: string, evaluate: Evaluate) => Evaluate;

export interface PlaceInFile {
  /** Relative to CONFIG_DIR. */
  readonly file: string;
  /** JSON path inside it. */
  readonly path: string;
}

/** The parsed files of one tenant, by alias. */
export interface SchemaSources {
  readonly schemas: ReadonlyMap<string, { file: string; json: Json }>;
  readonly partials: ReadonlyMap<string, { file: string; json: Json }>;
  readonly indexes: ReadonlyMap<string, { file: string; json: Json }>;
}

export interface CompiledSchemas {
  readonly schemas: ReadonlyMap<string, FullSchema>;
  readonly partials: ReadonlyMap<string, PartialSchema>;
  readonly indexes: ReadonlyMap<string, IndexSchema>;
}
