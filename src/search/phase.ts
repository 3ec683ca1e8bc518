/** The current phase of a query, to attribute its cost. */
import type { FilterNode } from './filter/condition.ts';

/** The parts of a query's work. `shared` is work that is done once for all queries and not attributed to any. */
export type Phase = 'filters' | 'search' | 'facets' | 'distinct' | 'sort' | 'page' | 'shared';

/**
 * The part of a phase: a condition of the filters, or the field of a facet or of `distinct`; null if the phase has no parts.
 */
export type Detail = Extract<FilterNode, { kind: 'condition' }> | string | null;

class CurrentPhase {
  phase: Phase = 'shared';
  detail: Detail = null;

  enter(phase: Phase, detail: Detail = null): void {
    this.phase = phase;
    this.detail = detail;
  }
}

/** Shared by all work, like the work budget (`lib/cooperative-yield.ts`). */
export const current = new CurrentPhase();
