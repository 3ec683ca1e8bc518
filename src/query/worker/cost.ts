/** The processor time of a query by phase, and the error message for a query that takes too much. */
import { excerpt } from '../../lib/message-text.ts';
import type { Detail, Phase } from '../../search/phase.ts';

const valueShownMax = 60;

const names: Record<Phase, string> = {
  filters: 'filters',
  search: 'search',
  facets: 'facets',
  distinct: 'distinct',
  sort: 'sort',
  page: 'the page',
  shared: 'the index',
};

const advice: Record<Phase, string> = {
  filters: 'use fewer conditions, especially with * or caseInsensitive, which check every distinct value',
  search: 'search for fewer words, or with "literal": true',
  facets: 'use fewer facets, or fields with fewer distinct values, or narrow the filters',
  distinct: 'use a field with fewer distinct values, or narrow the filters',
  sort: 'sort by fewer fields or by shorter values, request an earlier page, or narrow the filters',
  page: 'use a smaller pageSize',
  shared: 'try again',
};

export class Cost {
  #ms = 0;
  readonly #phases = new Map<Phase, number>();
  readonly #details = new Map<Detail, number>();

  /** Processor time in ms, without work that is done once for all queries. */
  get ms(): number {
    return this.#ms;
  }

  add(phase: Phase, detail: Detail, ms: number): void {
    if (phase === 'shared') return;
    this.#ms += ms;
    this.#phases.set(phase, (this.#phases.get(phase) ?? 0) + ms);
    if (detail !== null) this.#details.set(detail, (this.#details.get(detail) ?? 0) + ms);
  }

  /**
   * Error message for a stopped query: what took longest, and what to do about it.
   * @param spentMs processor time in ms after which the query was stopped
   */
  explain(spentMs: number): string {
    const [phase, ms] = largest(this.#phases) ?? ['filters', this.#ms];
    const share = Math.min(100, Math.round((100 * ms) / Math.max(this.#ms, 1)));
    const [detail, detailMs] = largest(this.#details) ?? [null, 0];
    const hasDetail = detail !== null && (phase === 'filters') === (typeof detail !== 'string');
    const most = hasDetail ? `, most of all ${shown(detail)} (${Math.ceil(detailMs)} ms)` : '';
    return (
      `${names[phase]}: the query was stopped after ${spentMs} ms of processor time in a worker, ` +
      `of which this took ${share} %${most}; ${advice[phase]}`
    );
  }
}

function largest<K>(times: ReadonlyMap<K, number>): [K, number] | null {
  let found: [K, number] | null = null;
  for (const [what, ms] of times) if (found === null || ms > found[1]) found = [what, ms];
  return found;
}

function shown(detail: NonNullable<Detail>): string {
  if (typeof detail === 'string') return `the field ${JSON.stringify(detail)}`;
  const { field, operator, value } = detail;
  return `${operator} ${excerpt(JSON.stringify(value), valueShownMax)} on the field ${JSON.stringify(field)}`;
}
