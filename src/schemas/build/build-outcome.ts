import type { Diagnostic } from '../../contract/diagnostic.ts';
import type { ViewRef } from '../../contract/ids.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { LookupQuery } from '../lookup-layout.ts';

export interface BuildOutcome {
  /** Lookups that were met. */
  readonly lookups: readonly LookupQuery[];
  /** The lookups among them that have no result yet. While there is one, the rest of the outcome is provisional. */
  readonly pending: readonly LookupQuery[];
  readonly diagnostics: readonly Diagnostic[];
  /** True when code has not answered yet. The rest of the outcome is then provisional. */
  readonly waitsForCode: boolean;
  /** Not null: nothing can be built from the entity, and what was made last stays. */
  readonly failure: BuildFailure | null;
}

/** Why a schema in JavaScript makes nothing of an entity. */
export interface BuildFailure {
  readonly message: string;
  /** File of the schema, with line and column where they are known: `tenants/acme/schemas/page.full.ts:12:7`. */
  readonly place: string;
}

export interface BuiltView extends BuildOutcome {
  readonly body: ViewBody;
}

export interface BuiltItem extends BuildOutcome {
  /** Mapped values, not yet fitted to the types of the index. */
  readonly fields: JsonObject;
  /** The JSON text of the fields as `JSON.stringify` would write it; null when that is not certain. */
  readonly text: string | null;
  /** True when work on them pauses. */
  readonly isLarge: boolean;
}

/** A place of a view where another view is put at delivery. */
export interface ReferencePiece {
  /** The view that is meant; null when the given text names none. */
  readonly target: ViewRef | null;
  /** The given reference, if it has no target; otherwise null. */
  readonly viewId: string | null;
  /** Where in the view, as it follows the view's own path: `.author`, `.related[1]`, `['a b'].x`. */
  readonly path: string;
}

/** JSON text cut at its references: `texts[0] references[0] texts[1] … texts[n]`. */
export interface ViewBody {
  readonly texts: readonly string[];
  readonly references: readonly ReferencePiece[];
}
