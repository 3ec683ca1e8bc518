import type { TextRules } from '../../schemas/definition/index-texts.ts';
import type { FieldType } from './field-type.ts';
import { type FieldTraits, traitsOf } from './field-type.ts';

/** The fields that a query can name. */
export interface FieldTable {
  readonly fields: ReadonlyMap<string, FieldType>;
  /** True for an auto-indexed group. An unknown field is then absent from every item, and no mistake. */
  readonly isOpen: boolean;
  /** Tags of the locales in whose order fields are sorted. */
  readonly collations?: ReadonlyMap<string, string>;
  /** How the words of fields are read; absent: as they are. */
  readonly rules?: ReadonlyMap<string, TextRules>;
}

/** The meaning of a name: a field of some type, `_score`, a field that no item has, or a mistake. */
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

/** The meaning of a name. A built-in name comes before a field with the same name. */
export function meaningOf(table: FieldTable, name: string): FieldMeaning {
  if (name === '_score') return { kind: 'score' };
  const builtIn = builtIns.get(name);
  const type = builtIn ?? table.fields.get(name);
  if (type !== undefined) {
    return { kind: 'field', type, traits: traitsOf(type), isBuiltIn: builtIn !== undefined };
  }
  return { kind: table.isOpen ? 'absent' : 'unknown' };
}
