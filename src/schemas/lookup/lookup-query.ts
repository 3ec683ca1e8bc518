import type { Json } from '../../contract/json.ts';
import type { LookupLayout } from './layout.ts';
import type { LookupPlan } from './plan.ts';

/** An index entry as the store hands it back. `values` are in the order of the layout's `projection`. */
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
  /** The condition as it is written, for people. */
  readonly condition: string;
  /** What it may read, whatever its values. */
  readonly plan: LookupPlan;
  /** True when the layout has all the indexes and values that the lookup reads, whatever schemas it was made for. */
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
  /** How many entities the condition found, whatever `top` leaves of them; at most `lookupResultsMax`. */
  readonly matched: number;
  readonly cut: boolean;
}
