/** Types of the query object (docs/reference/indexes-and-queries.md "The query object"). Null is the same as absent. */

type Scalar = string | number | boolean;

/** Fields that every item has. */
type BuiltInField = '_originId' | '_sourceGuid' | '_updatedAt';
/** A field of the index; any string if its items have no known type. */
export type FieldOf<Item> = keyof Item & string;

/** Operators that compare a field with one value. */
export type ComparisonOperator =
  | 'equals'
  | 'notEquals'
  | 'contains'
  | 'notContains'
  | 'greaterThan'
  | 'greaterThanOrEquals'
  | 'lessThan'
  | 'lessThanOrEquals';

export interface Degrees {
  readonly lat: number;
  readonly lon: number;
}

interface Operand<Operator extends string, Value> {
  readonly operator: Operator;
  readonly value: Value;
}

type Operands =
  | Operand<ComparisonOperator, Scalar | null>
  /** A string contains the values, separated by commas. */
  | Operand<'in' | 'notIn', readonly Scalar[] | string>
  | Operand<'exists', boolean>
  | Operand<'withinDistance', Degrees & { readonly meters: number }>
  | Operand<
      'withinBox',
      { readonly north: number; readonly south: number; readonly east: number; readonly west: number }
    >;

export type Operator = Operands['operator'];

/** A condition on items. */
export type Condition<Item> = Operands & {
  readonly field: FieldOf<Item> | BuiltInField;
  readonly caseInsensitive?: boolean | null;
};

/** Each of the conditions holds. */
interface AllOf<Member> {
  readonly and: readonly Member[];
  readonly or?: never;
}

/** At least one of the conditions holds. */
interface OneOf<Member> {
  readonly or: readonly Member[];
  readonly and?: never;
}

/** A group within a group is of the other kind, and contains only conditions. */
export type Filters<Item> =
  | AllOf<Condition<Item> | OneOf<Condition<Item>>>
  | OneOf<Condition<Item> | AllOf<Condition<Item>>>;

export interface Boost<Item> {
  /** A field of numbers or dates. */
  readonly field: FieldOf<Item>;
  /** Above 0, up to 100. */
  readonly weight: number;
  /** For a date: days. */
  readonly halfLife?: number | null;
  /** For a date: ISO 8601; absent: the time of the request. */
  readonly origin?: string | null;
}

export interface SearchField<Item> {
  readonly field: FieldOf<Item> | '*';
  readonly weight?: number | null;
}

export interface Search<Item> {
  readonly value: string;
  /** `*`: all text fields that the search does not name. */
  readonly field?: FieldOf<Item> | '*' | null;
  /** Replaces `field`. */
  readonly fields?: readonly SearchField<Item>[] | null;
  readonly literal?: boolean | null;
  readonly mode?: 'any' | 'all' | null;
  readonly prefix?: boolean | null;
  readonly fuzziness?: 0 | 1 | 2 | null;
  readonly operators?: boolean | null;
  readonly boost?: readonly Boost<Item>[] | null;
}

export interface Highlight<Item> {
  readonly fields?: readonly FieldOf<Item>[] | null;
  readonly before?: string | null;
  readonly after?: string | null;
  readonly length?: number | null;
}

interface FacetRange {
  readonly from?: number | string | null;
  readonly to?: number | string | null;
  readonly name?: string | null;
}

export interface FacetRequest<Item> {
  readonly field: FieldOf<Item> | '_originId' | '_sourceGuid';
  readonly name?: string | null;
  readonly size?: number | null;
  readonly stats?: boolean | null;
  readonly ranges?: readonly FacetRange[] | null;
  readonly interval?: 'day' | 'week' | 'month' | 'year' | null;
  readonly filter?: boolean | null;
}

export interface Sort<Item> {
  readonly field: FieldOf<Item> | BuiltInField | '_score';
  readonly order?: 'asc' | 'desc' | 0 | 1 | null;
  /** Sorts by the distance of a geoPoint from here. */
  readonly near?: Degrees | null;
}

export interface Pagination {
  readonly page?: number | null;
  readonly pageSize?: number | null;
  readonly nextPageToken?: string | null;
}

/** @typeParam Item of the index @typeParam Alias of the full schemas */
// biome-ignore lint/suspicious/noExplicitAny: without the types of an index, its fields are arbitrary strings.
export interface Query<Item = any, Alias extends string = string> {
  readonly filters?: Filters<Item> | null;
  readonly search?: Search<Item> | null;
  readonly highlight?: Highlight<Item> | null;
  readonly facets?: readonly FacetRequest<Item>[] | null;
  readonly sort?: readonly Sort<Item>[] | null;
  readonly pagination?: Pagination | null;
  readonly distinct?: FieldOf<Item> | null;
  readonly distinctFacets?: boolean | null;
  readonly fields?: readonly FieldOf<Item>[] | null;
  /** Schemas whose views each item contains in `_views`; not for source groups. */
  readonly aliases?: readonly Alias[] | null;
}
