/**
 * Facet groups of dates. Dates are grouped by their moment, whatever their notation. The value of a group is the first of
 * the notations that the items have, numbers before strings.
 */

import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CodeTally } from '../columns/code-tally.ts';
import { compareValues, type ValueDictionary } from '../columns/value-dictionary.ts';
import { parseDate } from '../fields/date-text.ts';
import type { PlainValue } from '../packed-values.ts';
import type { FacetGroups } from '../shard-answer.ts';

/** The cost of parsing a date, in units of the work budget. */
const unitsPerDate = 50;

/** The moment of a date; any other value stays as it is. */
export function momentOf(notation: PlainValue): PlainValue {
  return parseDate(notation) ?? notation;
}

/** Orders dates by their moments. */
export function compareMoments(a: PlainValue, b: PlainValue): number {
  workBudget.units += unitsPerDate;
  return compareValues(momentOf(a), momentOf(b));
}

/** The first notation of each moment. */
export function firstNotations(notations: Iterable<PlainValue>): PlainValue[] {
  const first = new Map<PlainValue, PlainValue>();
  for (const notation of notations) {
    const moment = momentOf(notation);
    const known = first.get(moment);
    if (known === undefined || compareValues(notation, known) < 0) first.set(moment, notation);
  }
  return [...first.values()];
}

const otherFormat = 'other';
/** A day; a second, with `Z` or without; a millisecond with `Z`. */
const usualFormat = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3}Z|Z?))?$/;

/** The format of a date. Two notations of one moment have different formats, or `otherFormat`. */
export function dateFormat(notation: PlainValue): string {
  if (typeof notation !== 'string') return typeof notation;
  return usualFormat.test(notation) ? String(notation.length) : otherFormat;
}

/** True if dates with these formats may have several notations of one moment. */
export function areMixed(formats: ReadonlySet<string>): boolean {
  return formats.size > 1 || formats.has(otherFormat);
}

/** Merges the counts of each moment into its first notation. */
export function* joinMoments(dictionary: ValueDictionary, tally: CodeTally): Steps<void> {
  const codes = new Map<PlainValue, number>();
  for (let at = 0; at < tally.size; at += 1) {
    const code = tally.codeAt(at);
    const notation = dictionary.valueOf(code);
    const moment = momentOf(notation);
    const known = codes.get(moment) ?? code;
    const isFirst = compareValues(notation, dictionary.valueOf(known)) < 0;
    if (known !== code) tally.join(isFirst ? known : code, isFirst ? code : known);
    codes.set(moment, isFirst ? code : known);
    workBudget.units += unitsPerDate;
    if (workBudget.isOver()) yield;
  }
  tally.leaveOutEmpty();
}

/** Gives each moment the same notation in the groups of all shards: the first one. */
export function unifyNotations(parts: readonly FacetGroups[]): FacetGroups[] {
  const notations = firstNotations(parts.flatMap(({ groups }) => groups.map(({ value }) => value)));
  const byMoment = new Map(notations.map((notation) => [momentOf(notation), notation]));
  return parts.map((part) => ({
    ...part,
    groups: part.groups.map(({ value, count }) => ({ value: byMoment.get(momentOf(value)) ?? value, count })),
  }));
}
