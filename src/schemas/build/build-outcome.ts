import type { Diagnostic } from '../../contract/diagnostic.ts';
import type { ViewRef } from '../../contract/ids.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { LookupQuery } from '../lookup-layout.ts';

export interface BuildOutcome {
  /** Lookups that the build has used. */
  readonly lookups: readonly LookupQuery[];
  /** Those without a result yet. While there are any, the rest of the outcome is provisional. */
  readonly pending: readonly LookupQuery[];
  readonly diagnostics: readonly Diagnostic[];
  /** If not null, nothing can be built from the entity, and the last output remains. */
  readonly failure: BuildFailure | null;
}

/** Why a schema in JavaScript failed for an entity. */
export interface BuildFailure {
  readonly message: string;
  /** File of the schema, with line and column if they are known: `tenants/acme/schemas/page.full.ts:12:7`. */
  readonly place: string;
}

export interface BuiltView extends BuildOutcome {
  readonly body: ViewBody;
}

export interface BuiltItem extends BuildOutcome {
  /** Mapped values, not yet converted to the types of the index. */
  readonly fields: JsonObject;
  /** The JSON text of the fields, as `JSON.stringify` would write it; null if that is not certain. */
  readonly text: string | null;
  /** True if the fields must be processed in steps. */
  readonly isLarge: boolean;
}

/** A reference in a view, where delivery inserts another view. */
export interface ReferencePiece {
  /** The referenced view; null if the given string is not a view id. */
  readonly target: ViewRef | null;
  /** The given reference, if it has no target; otherwise null. */
  readonly viewId: string | null;
  /** Path within the view: `.author`, `.related[1]`, `['a b'].x`. */
  readonly path: string;
}

/** JSON text split at its references: `texts[0] references[0] texts[1] … texts[n]`. */
export interface ViewBody {
  readonly texts: readonly string[];
  readonly references: readonly ReferencePiece[];
}
