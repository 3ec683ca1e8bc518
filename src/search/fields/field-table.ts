import type { TextRules } from '../../schemas/definition/index-texts.ts';
import type { FieldType } from './field-type.ts';
import { type FieldTraits, traitsOf } from './field-type.ts';

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
