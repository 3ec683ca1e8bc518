/** The kinds of queries that benchmarks ask, and their parts. */

export type QueryKind = 'one word' | 'two words, typos' | 'filter + sort' | 'search + facet';

export const queryKinds: readonly QueryKind[] = [
  'one word',
  'two words, typos',
  'filter + sort',
  'search + facet',
];

/** The part of the query object (docs/reference/indexes-and-queries.md "The query object") that these benchmarks use. */
export interface BenchQuery {
  readonly search?: { readonly field: 'text'; readonly value: string; readonly literal: boolean };
  readonly filters?: {
    readonly and: readonly [
      { readonly field: 'category'; readonly operator: 'equals'; readonly value: string },
      { readonly field: 'size'; readonly operator: 'greaterThan'; readonly value: number },
    ];
  };
  readonly sort?: readonly [{ readonly field: 'size'; readonly order: 'desc' }];
  readonly facets?: readonly [{ readonly field: 'category' }];
  /** Absent: ten. */
  readonly pagination?: { readonly pageSize: number };
}

const defaultPageSize = 10;

export function pageSizeOf({ pagination }: BenchQuery): number {
  return pagination?.pageSize ?? defaultPageSize;
}

export interface ExpectedAnswer {
  readonly total: number;
  /** Ids of the first page, if its order is the same for all contenders; else null. */
  readonly ids: readonly string[] | null;
  readonly facet: readonly (readonly [value: string, count: number])[] | null;
}

export interface ExpectedQuery {
  readonly kind: QueryKind;
  readonly query: BenchQuery;
  readonly expected: ExpectedAnswer;
}
