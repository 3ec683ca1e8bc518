/** Translates requests of InstantSearch.js (the parameters of Algolia's `search`) to queries. */
import type { Condition, FacetRequest, Filters, Query, SearchField, Sort } from './query.ts';

/** A list of filters that must all match; of an inner list, one must match. */
export type SearchFilters = string | readonly (string | readonly string[])[];

export interface SearchParameters {
  readonly query?: string;
  /** From 0. */
  readonly page?: number;
  readonly hitsPerPage?: number;
  readonly facets?: string | readonly string[];
  readonly maxValuesPerFacet?: number;
  /** `field:value`; with `field:-value` the value is excluded. */
  readonly facetFilters?: SearchFilters;
  /** `field>=5`, `field:5 TO 9`. */
  readonly numericFilters?: SearchFilters;
  readonly highlightPreTag?: string;
  readonly highlightPostTag?: string;
}

export interface SearchRequest {
  /** An index alias, or a name in `indexes`. */
  readonly indexName: string;
  readonly params?: SearchParameters;
}

/** An index under a different name. */
export interface SearchIndex {
  readonly index: string;
  readonly sort?: readonly Sort<Record<string, unknown>>[];
  /** Searched fields with their weights; absent: all text fields. */
  readonly fields?: readonly (string | SearchField<Record<string, unknown>>)[];
}

/** Limits of the platform: docs/reference/limits.md. */
const [hitsPerPageMax, reachableHits, facetValuesMax, queryCodePointsMax] = [1000, 10_000, 100, 256];
const [hitsPerPageDefault, facetValuesDefault] = [20, 10];

/** Parameters that would change the result, but have no equivalent in queries. */
const unsupported = [
  ...['filters', 'tagFilters', 'aroundLatLng', 'aroundLatLngViaIP', 'insideBoundingBox', 'insidePolygon'],
];

/** Whether a field has statistics, from earlier results; undefined if not known yet. */
export type HasStats = (field: string) => boolean | undefined;

/** @throws TypeError for anything that a query cannot express */
export function queryOfRequest(
  params: SearchParameters,
  { sort, fields = ['*'] }: SearchIndex,
  hasStats: HasStats,
): Query {
  refuseUnsupported(params);
  const { query = '', facets = [] } = params;
  const facetFilters = listOf(params.facetFilters).map((one) => conditionsOf(one, facetConditions));
  const numericFilters = listOf(params.numericFilters).map((one) => conditionsOf(one, numericConditions));
  const value = [...query].slice(0, queryCodePointsMax).join('');
  const { highlightPreTag: before, highlightPostTag: after } = params;
  // The facet of a filtered list still shows the values that are not selected, and that of a slider its full range.
  const own = new Set([...facetFilters.filter(isChoice), ...numericFilters].flatMap(fieldsOf));
  return {
    ...(value.trim() !== '' && {
      search: { value, fields: fields.map(searchField), mode: 'all' as const, prefix: true },
      highlight: { ...(before !== undefined && { before }), ...(after !== undefined && { after }) },
    }),
    filters: { and: [...facetFilters, ...numericFilters].flatMap(membersOf) },
    facets: (typeof facets === 'string' ? [facets] : facets)
      .filter((field) => field !== '*')
      .flatMap((field) => facetRequests(field, params, hasStats(field), own.has(field))),
    ...(sort !== undefined && { sort }),
    pagination: pageOf(params),
  };
}

function refuseUnsupported(params: object): void {
  for (const [name, value] of Object.entries(params)) {
    const isEmpty = value === undefined || value === null || value === '' || value.length === 0;
    if (unsupported.includes(name) && !isEmpty) {
      throw new TypeError(`The search parameter \`${name}\` is not supported`);
    }
  }
}

function searchField(
  field: string | SearchField<Record<string, unknown>>,
): SearchField<Record<string, unknown>> {
  return typeof field === 'string' ? { field } : field;
}

/** A page beyond the reachable ones is sent as a query without hits. */
function pageOf(params: SearchParameters): { readonly page: number; readonly pageSize: number } {
  const pageSize = pageSizeOf(params);
  const { page = 0 } = params;
  return page < pagesReachable(pageSize) ? { page, pageSize } : { page: 0, pageSize: 0 };
}

export function pageSizeOf({ hitsPerPage = hitsPerPageDefault }: SearchParameters): number {
  return Math.min(hitsPerPage, hitsPerPageMax);
}

export function pagesReachable(pageSize: number): number {
  return pageSize === 0 ? 0 : Math.floor(reachableHits / pageSize);
}

/**
 * A facet with statistics has no values if the field is not numeric. So until it is known, the facet is requested both ways.
 */
function facetRequests(
  field: string,
  { maxValuesPerFacet = facetValuesDefault }: SearchParameters,
  hasStats: boolean | undefined,
  isOwn: boolean,
): FacetRequest<Record<string, unknown>>[] {
  const size = Math.min(Math.max(1, maxValuesPerFacet), facetValuesMax);
  const facet = { field, size, filter: !isOwn };
  const ways = hasStats === undefined ? [false, true] : [hasStats];
  return ways.map((stats) => ({ ...facet, name: stats ? `${field} (stats)` : field, stats }));
}

type AnyCondition = Condition<Record<string, unknown>>;

/** Conditions of a filter: one of a list must match, otherwise all. */
interface FilterConditions {
  readonly kind: 'all' | 'choice';
  readonly conditions: readonly AnyCondition[];
}

function listOf(filters: SearchFilters = []): readonly (string | readonly string[])[] {
  return typeof filters === 'string' ? [filters] : filters;
}

function conditionsOf(
  filter: string | readonly string[],
  parse: (text: string) => AnyCondition[],
): FilterConditions {
  if (typeof filter === 'string') return { kind: 'all', conditions: parse(filter) };
  const conditions = filter.map((text) => {
    const [condition, ...others] = parse(text);
    if (condition === undefined || others.length > 0) {
      throw new TypeError(`The filter "${text}" cannot be one of several choices`);
    }
    return condition;
  });
  return { kind: 'choice', conditions };
}

function isChoice({ kind }: FilterConditions): boolean {
  return kind === 'choice';
}

function fieldsOf({ conditions }: FilterConditions): string[] {
  return conditions.map(({ field }) => field);
}

function membersOf({ kind, conditions }: FilterConditions): AndMembers {
  return kind === 'choice' ? [{ or: conditions }] : conditions;
}

type AndMembers = NonNullable<Extract<Filters<Record<string, unknown>>, { readonly or?: never }>['and']>;

function facetConditions(text: string): AnyCondition[] {
  const colon = text.indexOf(':');
  const [field, value] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon < 1) throw new TypeError(`The facet filter "${text}" must be field:value`);
  if (value.startsWith('-')) return [{ field, operator: 'notEquals', value: value.slice(1) }];
  // InstantSearch escapes the minus at the start of a value.
  return [{ field, operator: 'equals', value: value.replace(/^\\-/, '-') }];
}

const operators = {
  '=': 'equals',
  '!=': 'notEquals',
  '<': 'lessThan',
  '<=': 'lessThanOrEquals',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEquals',
} as const;
const comparison = /^(.+?)\s*(!=|<=|>=|<|>|=)\s*(\S+)$/;
const range = /^(.+?):\s*(\S+) TO (\S+)$/;

function numericConditions(text: string): AnyCondition[] {
  const [, field = '', sign = '', value] = comparison.exec(text) ?? [];
  const number = Number(value);
  if (isOperator(sign) && Number.isFinite(number))
    return [{ field, operator: operators[sign], value: number }];
  const [, ranged, from, to] = range.exec(text) ?? [];
  const ends = [Number(from), Number(to)] as const;
  if (ranged === undefined || !ends.every(Number.isFinite)) {
    throw new TypeError(`The numeric filter "${text}" must be as in "price>=5" or "price:5 TO 9"`);
  }
  return [
    { field: ranged, operator: 'greaterThanOrEquals', value: ends[0] },
    { field: ranged, operator: 'lessThanOrEquals', value: ends[1] },
  ];
}

function isOperator(sign: string): sign is keyof typeof operators {
  return Object.hasOwn(operators, sign);
}
