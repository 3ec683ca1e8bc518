/** Creates columns by type. The trivial column for objects is defined here. */
import type { Steps } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import { type FieldTraits, type FieldType, isNumeric, traitsOf } from '../fields/field-type.ts';
import { type DocTest, matchNothing } from '../filter/condition.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import type { CodeColumn, CodeValues } from './code-column.ts';
import type { Column } from './column.ts';
import { GeoColumn } from './geo-column.ts';
import { ListCodes } from './list-codes.ts';
import { NumberColumn } from './number-column.ts';
import { NumberListColumn } from './number-list-column.ts';
import { RangeColumn } from './range-column.ts';
import { ScalarCodes } from './scalar-codes.ts';

export function createColumn(type: FieldType, capacity: number): Column {
  const { shape, kind } = traitsOf(type);
  if (shape === 'object') return new ObjectColumn(capacity);
  if (shape === 'range') return new RangeColumn(capacity, kind);
  if (kind === 'geo') return new GeoColumn(capacity, shape === 'list');
  if (!isNumeric(kind)) return createCodeColumn(shape, capacity, kind === 'text' ? 'text' : 'boolean');
  return shape === 'list' ? new NumberListColumn(capacity, kind) : new NumberColumn(capacity, kind);
}

/** Creates a code column for single values or lists. */
export function createCodeColumn(
  shape: FieldTraits['shape'],
  capacity: number,
  values: CodeValues,
): CodeColumn {
  return shape === 'list' ? new ListCodes(capacity, values) : new ScalarCodes(capacity, values);
}

/** A field of type object, which is stored but not searchable. The column only records which docs have a value. */
class ObjectColumn implements Column {
  readonly present: Bitmap;

  constructor(capacity: number) {
    this.present = new Bitmap(capacity);
  }

  get bytes(): number {
    return this.present.words.byteLength;
  }

  set(doc: number): null {
    this.present.add(doc);
    return null;
  }

  clear(doc: number): null {
    this.present.remove(doc);
    return null;
  }

  parts(): Parts {
    return this.present.parts();
  }

  async restore(from: PartReader): Promise<void> {
    await this.present.restore(from);
  }

  // biome-ignore lint/correctness/useYield: columns grow in steps; this one needs none.
  *grow(capacity: number): Steps<void> {
    this.present.grow(capacity);
  }

  // biome-ignore lint/correctness/useYield: columns are matched in steps; this one needs none.
  *match(): Steps<DocTest> {
    return matchNothing;
  }

  order(): null {
    return null;
  }
}
