/**
 * The first item of a value in a shard, as sent to be compared with those of other shards.
 * It is short whatever the query sorts by: of many sort values the first few, of a long one its beginning. So the number of
 * values that a query may find is bounded by their sort values.
 */
import { createHash } from 'node:crypto';
import type { EntityRef } from '../../contract/ids.ts';
import { distinctCellsMax } from '../../contract/limits.ts';
import { workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery, SortKey } from '../checked-query.ts';
import { compareSortValues } from '../merge-answers.ts';
import type { PlainValue } from '../packed-values.ts';
import type { RowPlace } from '../shard-answer.ts';
import { compareText } from '../sort/text-order.ts';

/** The beginning of a long text. */
type Beginning = readonly [text: string];
export type SentValue = RowPlace['values'][number] | Beginning;

export interface SentPlace extends EntityRef {
  /** Of the first sort keys. */
  readonly values: readonly SentValue[];
}

/** Sort values that are sent of a place. Most places differ in the first. */
export const valuesSentMax = 4;
/** UTF-16 units of a text that is sent whole. */
export const unitsSentMax = 64;

export function sentValues(values: RowPlace['values']): SentValue[] {
  return values.slice(0, valuesSentMax).map((value) => {
    return typeof value === 'string' && value.length > unitsSentMax ? [beginningOf(value)] : value;
  });
}

/** Half of a surrogate pair would have another order than the whole. */
function beginningOf(text: string): string {
  const isPair = (text.codePointAt(unitsSentMax - 1) ?? 0) > 0xffff;
  return text.slice(0, isPair ? unitsSentMax + 1 : unitsSentMax);
}

/** A value in few characters. No two values of a field have the same name: those of long texts are longer than any other. */
export function nameOfValue(value: PlainValue): PlainValue {
  if (typeof value !== 'string' || value.length <= unitsSentMax) return value;
  workBudget.units += value.length;
  // Halves of surrogate pairs would all be the same in UTF-8.
  const digest = createHash('sha256').update(value, 'utf16le').digest('base64url');
  return `${value.slice(0, unitsSentMax)}${digest}`;
}

/** As `comparePlaces`; null when what was sent does not say it. */
export function compareSent(sort: readonly SortKey[], a: SentPlace, b: SentPlace): number | null {
  for (const [at, key] of sort.entries()) {
    if (at >= valuesSentMax) return null;
    const valueA = a.values[at] ?? null;
    const valueB = b.values[at] ?? null;
    const isCutA = isBeginning(valueA);
    const isCutB = isBeginning(valueB);
    // In the order of a locale, beginnings do not compare as whole texts do.
    if (key.collation !== undefined && (isCutA || isCutB)) return null;
    const compared = compareSortValues(textOrValue(valueA), textOrValue(valueB), key);
    if (compared !== 0) return compared;
    if (isCutA && isCutB) return null;
    // What is whole is a beginning of the other, so it comes before it.
    if (isCutA || isCutB) return isCutB === (key.order === 'desc') ? 1 : -1;
  }
  return compareText(a.originId, b.originId) || compareText(a.sourceId, b.sourceId);
}

function textOrValue(value: SentValue): RowPlace['values'][number] {
  return isBeginning(value) ? value[0] : value;
}

function isBeginning(value: SentValue): value is Beginning {
  return Array.isArray(value);
}

/**
 * Values that a query with `distinct` may find, over all populations and shards. Several shards send and compare them.
 * One shard is held to the same, so that the number of shards does not show.
 */
export function distinctValuesMax({ sort }: CheckedQuery): number {
  return Math.floor(distinctCellsMax / (1 + Math.min(sort.length, valuesSentMax)));
}
