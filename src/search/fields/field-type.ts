import { assert } from '../../lib/assert.ts';
import type { FieldTypeName } from '../../schemas/definition/index-fields.ts';
import type { TextRules } from '../../schemas/definition/index-texts.ts';

/**
 * The type of a field in a shard. Auto-indexed plain text has the types `keywordText` and `keywordText[]`, which combine
 * keyword and text.
 */
export type FieldType = FieldTypeName | 'keywordText' | 'keywordText[]';

/** How the values of a field are compared. */
export type ValueKind =
  | 'text'
  | 'integer'
  | 'long'
  | 'float'
  | 'double'
  | 'boolean'
  | 'date'
  | 'geo'
  | 'json';

export interface FieldTraits {
  readonly shape: 'scalar' | 'list' | 'range' | 'object';
  readonly kind: ValueKind;
  /** The field's words are indexed, so `search` works on it. */
  readonly isSearchable: boolean;
}

const rangeKinds: ReadonlyMap<FieldType, ValueKind> = new Map([
  ['integerRange', 'integer'],
  ['longRange', 'long'],
  ['floatRange', 'float'],
  ['doubleRange', 'double'],
  ['dateRange', 'date'],
]);

const scalarKinds: ReadonlyMap<string, ValueKind> = new Map([
  ['keyword', 'text'],
  ['text', 'text'],
  ['keywordText', 'text'],
  ['integer', 'integer'],
  ['long', 'long'],
  ['float', 'float'],
  ['double', 'double'],
  ['boolean', 'boolean'],
  ['date', 'date'],
  ['geoPoint', 'geo'],
]);

const known = new Map<FieldType, FieldTraits>();

/** The traits of a field type. @throws InvariantError for a name that is not a type */
export function traitsOf(type: FieldType): FieldTraits {
  const remembered = known.get(type);
  if (remembered !== undefined) return remembered;
  const traits = readTraits(type);
  known.set(type, traits);
  return traits;
}

function readTraits(type: FieldType): FieldTraits {
  if (type === 'object') return { shape: 'object', kind: 'json', isSearchable: false };
  const rangeKind = rangeKinds.get(type);
  if (rangeKind !== undefined) return { shape: 'range', kind: rangeKind, isSearchable: false };
  const isList = type.endsWith('[]');
  const scalar = isList ? type.slice(0, -2) : type;
  const kind = scalarKinds.get(scalar);
  assert(kind !== undefined, 'each field type has a kind');
  const isSearchable = scalar === 'text' || scalar === 'keywordText';
  return { shape: isList ? 'list' : 'scalar', kind, isSearchable };
}

/** True for kinds that are compared as numbers, including dates. */
export function isNumeric(kind: ValueKind): boolean {
  return kind !== 'text' && kind !== 'boolean' && kind !== 'geo' && kind !== 'json';
}

/** Fields that `sort` may name without `near` (docs/reference/indexes-and-queries.md "Sorting"). */
export function isSortable(traits: FieldTraits): boolean {
  return (traits.shape === 'scalar' || traits.shape === 'list') && traits.kind !== 'geo';
}

/** Fields that `distinct` may name (docs/reference/indexes-and-queries.md "One item of each value"). */
export function isDistinguishable({ shape, kind }: FieldTraits): boolean {
  return shape === 'scalar' && kind !== 'geo';
}

/** Fields that `facets` may name (docs/reference/indexes-and-queries.md "Facets"). */
export function isFacetable(traits: FieldTraits): boolean {
  return isSortable(traits);
}

/**
 * Fields that ordering operators may name: numbers, dates, their lists and ranges
 * (docs/reference/indexes-and-queries.md "Filters").
 */
export function isOrdered(traits: FieldTraits): boolean {
  return isNumeric(traits.kind);
}

/** The fields that a query can name. */
export interface FieldTable {
  readonly fields: ReadonlyMap<string, FieldType>;
  /** True for an auto-indexed group. Then an unknown field is treated as absent from every item instead of as an error. */
  readonly isOpen: boolean;
  /** Field -> tag of the locale for sorting. */
  readonly collations?: ReadonlyMap<string, string>;
  /** Field -> rules for its words; absent: none. */
  readonly rules?: ReadonlyMap<string, TextRules>;
}

/** The meaning of a name: a field of some type, `_score`, a field that no item has, or an unknown field. */
export type FieldMeaning =
  | {
      readonly kind: 'field';
      readonly type: string;
      readonly traits: FieldTraits;
      readonly isBuiltIn: boolean;
    }
  | { readonly kind: 'score' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown' };

const builtIns: ReadonlyMap<string, FieldType> = new Map([
  ['_originId', 'keyword'],
  ['_sourceGuid', 'keyword'],
  ['_updatedAt', 'date'],
]);

/** The meaning of a name. Built-in names take precedence over fields with the same name. */
export function meaningOf(table: FieldTable, name: string): FieldMeaning {
  if (name === '_score') return { kind: 'score' };
  const builtIn = builtIns.get(name);
  const type = builtIn ?? table.fields.get(name);
  if (type !== undefined) {
    return { kind: 'field', type, traits: traitsOf(type), isBuiltIn: builtIn !== undefined };
  }
  return { kind: table.isOpen ? 'absent' : 'unknown' };
}
