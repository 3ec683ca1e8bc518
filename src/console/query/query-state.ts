/** Reads and changes a query for the form. The JSON is authoritative: members that the form does not support are kept. */

export type QueryObject = Readonly<Record<string, unknown>>;

export interface Condition {
  readonly field: string;
  readonly operator: string;
  readonly value: unknown;
}

export const operators = [
  'equals',
  'notEquals',
  'in',
  'notIn',
  'contains',
  'notContains',
  'exists',
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
] as const;

export const firstQuery: QueryObject = { pagination: { pageSize: 20 } };

/** The conditions combined with AND; null if the filters have another form, which the form does not change. */
export function conditionsOf(query: QueryObject): readonly Condition[] | null {
  const { filters } = query;
  if (filters === undefined || filters === null) return [];
  if (!isRecord(filters) || !Array.isArray(filters.and)) return null;
  const all: readonly unknown[] = filters.and;
  const conditions = all.filter(isCondition);
  return conditions.length === all.length ? conditions : null;
}

export function withConditions(query: QueryObject, conditions: readonly Condition[]): QueryObject {
  return withMember(query, 'filters', conditions.length === 0 ? null : { and: conditions });
}

/** The query with a member; null removes it. */
function withMember(query: QueryObject, name: string, value: unknown): QueryObject {
  const others = Object.fromEntries(Object.entries(query).filter(([key]) => key !== name));
  return value === null ? others : { ...others, [name]: value };
}

export function searchOf({ search }: QueryObject): { readonly fields: string; readonly value: string } {
  if (!isRecord(search)) return { fields: '', value: '' };
  const named = Array.isArray(search.fields)
    ? search.fields.map((one: unknown) => (isRecord(one) ? String(one.field) : '')).join(', ')
    : String(search.field ?? '');
  return { fields: named, value: String(search.value ?? '') };
}

/** @param fields names separated by commas */
export function withSearch(query: QueryObject, fields: string, value: string): QueryObject {
  if (fields === '' && value === '') return withMember(query, 'search', null);
  const former = isRecord(query.search) ? query.search : {};
  const { field: _field, fields: _fields, ...rest } = former;
  const names = fields.split(',').map((name) => name.trim());
  const target = names.length === 1 ? { field: names[0] } : { fields: names.map((field) => ({ field })) };
  return withMember(query, 'search', { ...rest, ...target, value });
}

export function hasOperators({ search }: QueryObject): boolean {
  return isRecord(search) && search.operators === true;
}

export function withOperators(query: QueryObject, isOn: boolean): QueryObject {
  return withSearchMember(query, 'operators', isOn ? true : null);
}

/** The first boost of a search; further ones can only be edited as JSON. */
export interface Boost {
  readonly field: string;
  readonly weight: number;
  /** In days, for date fields; null for numeric fields. */
  readonly halfLife: number | null;
}

export const noBoost: Boost = { field: '', weight: 1, halfLife: null };

export function boostOf({ search }: QueryObject): Boost {
  const first: unknown = isRecord(search) && Array.isArray(search.boost) ? search.boost[0] : undefined;
  if (!isRecord(first)) return noBoost;
  const { field, weight, halfLife } = first;
  return {
    field: String(field ?? ''),
    weight: Number(weight ?? 1),
    halfLife: typeof halfLife === 'number' ? halfLife : null,
  };
}

export function withBoost(query: QueryObject, { field, weight, halfLife }: Boost): QueryObject {
  const boost = { field, weight, ...(halfLife !== null && { halfLife }) };
  return withSearchMember(query, 'boost', field === '' ? null : [boost]);
}

/** Without a search the query is unchanged. */
function withSearchMember(query: QueryObject, name: string, value: unknown): QueryObject {
  const { search } = query;
  return isRecord(search) ? withMember(query, 'search', withMember(search, name, value)) : query;
}

export function sortOf({ sort }: QueryObject): { readonly field: string; readonly order: string } {
  const first: unknown = Array.isArray(sort) ? sort[0] : undefined;
  return isRecord(first)
    ? { field: String(first.field ?? ''), order: String(first.order ?? 'asc') }
    : { field: '', order: 'asc' };
}

export function withSort(query: QueryObject, field: string, order: string): QueryObject {
  return withMember(query, 'sort', field === '' ? null : [{ field, order }]);
}

/** Maximum number of facets in a query. */
export const facetsMax = 100;

/** A query that returns which fields support facets. It matches no item, so that nothing is counted. */
export function facetQuestion(fields: readonly string[]): QueryObject {
  return {
    filters: { and: [{ field: '_originId', operator: 'equals', value: '' }] },
    facets: fields.map((field) => ({ field, size: 1 })),
    pagination: { pageSize: 0 },
  };
}

export function facetFieldsOf({ facets }: QueryObject): string[] {
  if (!Array.isArray(facets)) return [];
  return facets.map((facet: unknown) => (isRecord(facet) ? String(facet.field ?? '') : ''));
}

export function withFacet(query: QueryObject, field: string, isOn: boolean): QueryObject {
  const former: readonly unknown[] = Array.isArray(query.facets) ? query.facets : [];
  const others = former.filter((facet) => !(isRecord(facet) && facet.field === field));
  const facets = isOn ? [...others, { field, size: 10 }] : others;
  return withMember(query, 'facets', facets.length === 0 ? null : facets);
}

/** Toggles the condition of a facet value. */
export function toggled(query: QueryObject, field: string, value: unknown): QueryObject {
  const conditions = conditionsOf(query);
  if (conditions === null) return query;
  const others = conditions.filter((one) => !isGroup(one, field, value));
  const next =
    others.length < conditions.length ? others : [...conditions, { field, operator: 'equals', value }];
  return withoutToken(withConditions(query, next));
}

export function isChosen(query: QueryObject, field: string, value: unknown): boolean {
  return conditionsOf(query)?.some((one) => isGroup(one, field, value)) ?? false;
}

function isGroup(condition: Condition, field: string, value: unknown): boolean {
  return condition.field === field && condition.operator === 'equals' && condition.value === value;
}

export function withToken(query: QueryObject, nextPageToken: string): QueryObject {
  const pagination = isRecord(query.pagination) ? query.pagination : {};
  return { ...query, pagination: { ...pagination, nextPageToken } };
}

/** A page token is only valid for its query, so a changed query begins at the first page. */
export function withoutToken(query: QueryObject): QueryObject {
  if (!isRecord(query.pagination)) return query;
  const { nextPageToken: _token, ...pagination } = query.pagination;
  return { ...query, pagination };
}

export function parsedQuery(text: string): QueryObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCondition(value: unknown): value is Condition {
  return isRecord(value) && typeof value.field === 'string' && typeof value.operator === 'string';
}
