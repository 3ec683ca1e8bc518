/** The kinds of queries that benchmarks send, and their parts. */
import type { Place } from '../data/items.ts';

export type QueryKind = (typeof queryKinds)[number] | (typeof boxKinds)[number];

export const queryKinds = ['one word', 'two words, typos', 'filter + sort', 'search + facet'] as const;

/** What a search box and a map need in addition. */
export const boxKinds = [
  'one word, typos',
  'beginning',
  'beginning, typos',
  'word, highlighted',
  '*part*',
  'near a place',
] as const;

export const allKinds: readonly QueryKind[] = [...queryKinds, ...boxKinds];

export interface Circle extends Place {
  readonly meters: number;
}

type BenchCondition =
  | { readonly field: 'category'; readonly operator: 'equals'; readonly value: string }
  | { readonly field: 'size'; readonly operator: 'greaterThan'; readonly value: number }
  | {
      readonly field: 'name';
      readonly operator: 'contains';
      readonly value: string;
      readonly caseInsensitive: true;
    }
  | { readonly field: 'place'; readonly operator: 'withinDistance'; readonly value: Circle };

/** The part of the query object (docs/reference/indexes-and-queries.md "The query object") that these benchmarks use. */
export interface BenchQuery {
  readonly search?: {
    readonly field: 'text';
    readonly value: string;
    readonly literal: boolean;
    readonly prefix?: true;
  };
  readonly highlight?: Readonly<Record<string, never>>;
  readonly filters?: { readonly and: readonly BenchCondition[] };
  readonly sort?: readonly [
    | { readonly field: 'size'; readonly order: 'desc' }
    | { readonly field: 'name'; readonly order: 'asc' }
    | { readonly field: 'place'; readonly near: Place },
  ];
  readonly facets?: readonly [{ readonly field: 'category' }];
  /** Absent: ten. */
  readonly pagination?: { readonly pageSize: number };
}

const defaultPageSize = 10;

export function pageSizeOf({ pagination }: BenchQuery): number {
  return pagination?.pageSize ?? defaultPageSize;
}

/** What the filters of a query require; each part is null if they do not. */
export interface AskedFilter {
  readonly above: { readonly category: string; readonly size: number } | null;
  /** A part of the name, in lower case. */
  readonly part: string | null;
  readonly circle: Circle | null;
}

export function filterOf({ filters }: BenchQuery): AskedFilter {
  let [category, size, part, circle]: [string, number, string | null, Circle | null] = ['', 0, null, null];
  for (const condition of filters?.and ?? []) {
    if (condition.field === 'category') category = condition.value;
    else if (condition.field === 'size') size = condition.value;
    else if (condition.field === 'name') part = condition.value.replaceAll('*', '');
    else circle = condition.value;
  }
  return { above: category === '' ? null : { category, size }, part, circle };
}

export interface ExpectedAnswer {
  readonly total: number;
  /** Ids of the first page, if its order is the same for all contenders; else null. */
  readonly ids: readonly string[] | null;
  readonly facet: readonly (readonly [value: string, count: number])[] | null;
  /** The distinct words that are marked on the first page, '' for an item without marks; null without highlights. */
  readonly marked: readonly string[] | null;
}

export interface ExpectedQuery {
  readonly kind: QueryKind;
  readonly query: BenchQuery;
  readonly expected: ExpectedAnswer;
}
