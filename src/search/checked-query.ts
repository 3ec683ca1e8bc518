/** The query that a shard answers. It is plain data, because it crosses processes. */
import type { FilterOperator } from '../contract/filter-operators.ts';
import type { Json } from '../contract/json.ts';
import type { RowPlace } from './shard-answer.ts';

export interface SortKey {
  readonly field: string;
  readonly order: 'asc' | 'desc';
}

/** A query from `checkQuery`: it has no mistakes, and every default is filled in. */
export interface CheckedQuery {
  readonly filter: FilterNode | null;
  readonly search: { readonly field: string; readonly value: string; readonly literal: boolean } | null;
  readonly facets: readonly {
    readonly field: string;
    readonly name: string;
    readonly size: number;
    readonly isValid: boolean;
  }[];
  /** At least one key. Ties are ordered by `_originId`, then `_sourceGuid`. */
  readonly sort: readonly SortKey[];
  /** Rows before the page; 0 when `after` is set. */
  readonly offset: number;
  readonly pageSize: number;
  /** Place of the last row of the page before, from its token; null without one. */
  readonly after: RowPlace | null;
}

export type FilterNode =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] }
  | {
      readonly kind: 'condition';
      readonly field: string;
      readonly operator: FilterOperator;
      readonly value: Json;
      readonly caseInsensitive: boolean;
    };
