/**
 * The first item with a value in a shard, in the form that is sent for comparison with other shards. It is always short: it has
 * only the first sort values, and only a prefix of long ones. So the limit on the number of values of a query depends on
 * its sort values.
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

/** The prefix of a long text. */
type Prefix = readonly [text: string];
export type SentValue = RowPlace['values'][number] | Prefix;

export interface SentPlace extends EntityRef {
  /** The values of the first sort keys. */
  readonly values: readonly SentValue[];
}

/** Number of sort values to send per item. Most items differ in the first. */
export const valuesSentMax = 4;
/** Maximum length of a text that is sent completely, in UTF-16 units. */
export const unitsSentMax = 64;

export function sentValues(values: RowPlace['values']): SentValue[] {
  return values.slice(0, valuesSentMax).map((value) => {
    return typeof value === 'string' && value.length > unitsSentMax ? [prefixOf(value)] : value;
  });
}

/** Half of a surrogate pair would sort differently than the pair. */
function prefixOf(text: string): string {
  const isPair = (text.codePointAt(unitsSentMax - 1) ?? 0) > 0xffff;
  return text.slice(0, isPair ? unitsSentMax + 1 : unitsSentMax);
}

/** A short unique name of a value. Names of long texts are longer than all others and include a digest. */
export function nameOfValue(value: PlainValue): PlainValue {
  if (typeof value !== 'string' || value.length <= unitsSentMax) return value;
  workBudget.units += value.length;
  // In UTF-8, all unpaired surrogates would be the same.
  const digest = createHash('sha256').update(value, 'utf16le').digest('base64url');
  return `${value.slice(0, unitsSentMax)}${digest}`;
}

/** Like `comparePlaces`; null if the sent data are not enough. */
export function compareSent(sort: readonly SortKey[], a: SentPlace, b: SentPlace): number | null {
  for (const [at, key] of sort.entries()) {
    if (at >= valuesSentMax) return null;
    const valueA = a.values[at] ?? null;
    const valueB = b.values[at] ?? null;
    const isCutA = isPrefix(valueA);
    const isCutB = isPrefix(valueB);
    // In the order of a locale, prefixes may compare differently than whole texts.
    if (key.collation !== undefined && (isCutA || isCutB)) return null;
    const compared = compareSortValues(textOrValue(valueA), textOrValue(valueB), key);
    if (compared !== 0) return compared;
    if (isCutA && isCutB) return null;
    // The complete text is a prefix of the other, so it comes first.
    if (isCutA || isCutB) return isCutB === (key.order === 'desc') ? 1 : -1;
  }
  return compareText(a.originId, b.originId) || compareText(a.sourceId, b.sourceId);
}

function textOrValue(value: SentValue): RowPlace['values'][number] {
  return isPrefix(value) ? value[0] : value;
}

function isPrefix(value: SentValue): value is Prefix {
  return Array.isArray(value);
}

/**
 * Maximum number of values of a query with `distinct`, over all populations and shards, which must send and compare them. The
 * limit also applies to a single shard, so that results do not depend on the number of shards.
 */
export function distinctValuesMax({ sort }: CheckedQuery): number {
  return Math.floor(distinctCellsMax / (1 + Math.min(sort.length, valuesSentMax)));
}
