import type { FieldType } from '../fields/field-type.ts';
import { type FieldTraits, isNumeric, traitsOf } from '../fields/field-type.ts';
import type { CodeColumn, CodeValues } from './code-column.ts';
import type { Column } from './column.ts';
import { GeoColumn } from './geo-column.ts';
import { ListCodes } from './list-codes.ts';
import { NumberColumn } from './number-column.ts';
import { NumberListColumn } from './number-list-column.ts';
import { ObjectColumn } from './object-column.ts';
import { RangeColumn } from './range-column.ts';
import { ScalarCodes } from './scalar-codes.ts';

/** Makes the column for a type. */
export function createColumn(type: FieldType, capacity: number): Column {
  const { shape, kind } = traitsOf(type);
  if (shape === 'object') return new ObjectColumn(capacity);
  if (shape === 'range') return new RangeColumn(capacity, kind);
  if (kind === 'geo') return new GeoColumn(capacity, shape === 'list');
  if (!isNumeric(kind)) return createCodeColumn(shape, capacity, kind === 'text' ? 'text' : 'boolean');
  return shape === 'list' ? new NumberListColumn(capacity, kind) : new NumberColumn(capacity, kind);
}

/** Makes a column of codes, for one value or for lists of values. */
export function createCodeColumn(
  shape: FieldTraits['shape'],
  capacity: number,
  values: CodeValues,
): CodeColumn {
  return shape === 'list' ? new ListCodes(capacity, values) : new ScalarCodes(capacity, values);
}
