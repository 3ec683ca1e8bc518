import type { FieldType } from './field-type.ts';
import { type FieldTraits, traitsOf } from './field-type.ts';

/** The fields that a query can name. */
export interface FieldTable {
  readonly fields: ReadonlyMap<string, FieldType>;
  /** True for an auto-indexed group: a field that is not there is absent from every item, and no mistake. */
  readonly isOpen: boolean;
}

/** What a name means: a field of some type, `_score`, absent from every item, or a mistake. */
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

/** Built-in names come before fields of an item that are called the same. */
export function meaningOf(table: FieldTable, name: string): FieldMeaning {
  if (name === '_score') return { kind: 'score' };
  const builtIn = builtIns.get(name);
  const type = builtIn ?? table.fields.get(name);
  if (type !== undefined) {
    return { kind: 'field', type, traits: traitsOf(type), isBuiltIn: builtIn !== undefined };
  }
  return { kind: table.isOpen ? 'absent' : 'unknown' };
}
