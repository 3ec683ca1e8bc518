import type { Diagnostic } from '../../contract/diagnostic.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { LookupQuery } from '../lookup/query.ts';
import type { ViewBody } from './view-body.ts';

export interface BuildOutcome {
  /** Lookups that were met. */
  readonly lookups: readonly LookupQuery[];
  /** The lookups among them that have no result yet. While there is one, the rest of the outcome is provisional. */
  readonly pending: readonly LookupQuery[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface BuiltView extends BuildOutcome {
  readonly body: ViewBody;
}

export interface BuiltItem extends BuildOutcome {
  /** Mapped values, not yet fitted to the types of the index. */
  readonly fields: JsonObject;
}
