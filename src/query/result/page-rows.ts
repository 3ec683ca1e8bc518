/**
 * Writes the rows of a page as text. A row may have megabytes, so rows are counted while they are written, and written
 * in steps.
 */
import { queryPageUnitsMax } from '../../contract/limits.ts';
import { chain, type Resumable, repeat, workBudget } from '../../lib/cooperative-yield.ts';
import type { ShownRow } from '../../search/shard-answer.ts';
import { type RowForm, type RowText, rowText } from './row-text.ts';

export interface PageRows {
  readonly texts: readonly RowText[];
  /** Bytes of all texts. */
  readonly bytes: number;
}

/** The cost of writing a row, in units of the pace. A byte of its text costs a tenth of a unit. */
const unitsPerRow = 100;
const bytesPerUnit = 10;

/** @returns null when the rows, or the values by which they were found, are too large */
export function pageRows(
  rows: readonly ShownRow[],
  form: RowForm,
  bytesMax: number,
): Resumable<PageRows | null> {
  const texts: RowText[] = [];
  let bytes = 0;
  let placeUnits = 0;
  const fits = () => bytes <= bytesMax && placeUnits <= queryPageUnitsMax;
  const written = repeat((at) => {
    const row = rows[at];
    if (row === undefined) return false;
    const text = rowText(row, form);
    texts.push(text);
    bytes += text.bytes;
    placeUnits += placeUnitsOf(row);
    workBudget.units += unitsPerRow + Math.trunc(text.bytes / bytesPerUnit);
    return fits();
  });
  return chain(written, () => (fits() ? { texts, bytes } : null));
}

/** UTF-16 units of the values by which a row was found. */
function placeUnitsOf({ place }: ShownRow): number {
  let units = 0;
  for (const value of place.values) if (typeof value === 'string') units += value.length;
  return units;
}
