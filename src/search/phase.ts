/** The current phase of a query, to attribute its cost. */
import type { FilterNode } from './filter/condition.ts';

/** The parts of a query's work. `shared` is work that is done once for all queries, and counts for none. */
export type Phase = 'filters' | 'search' | 'facets' | 'distinct' | 'sort' | 'page' | 'shared';

/** The exact place in a phase: a condition of the filters, or the field of a facet or of `distinct`; null where the phase says enough. */
export type Detail = Extract<FilterNode, { kind: 'condition' }> | string | null;

class CurrentPhase {
  phase: Phase = 'shared';
  detail: Detail = null;

  enter(phase: Phase, detail: Detail = null): void {
    this.phase = phase;
    this.detail = detail;
  }
}

/** All work shares it, as it shares the pace (`lib/cooperative-yield.ts`). */
export const current = new CurrentPhase();
