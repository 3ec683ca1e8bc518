/**
 * Groups of dates by value. A date is its moment, however it was written: there is one group for each moment, and its
 * value is the first of its writings that the items have, numbers before texts.
 */

import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CodeTally } from '../columns/code-tally.ts';
import { compareValues, type ValueDictionary } from '../columns/value-dictionary.ts';
import { parseDate } from '../fields/date-text.ts';
import type { PlainValue } from '../packed-values.ts';
import type { FacetGroups } from '../shard-answer.ts';

/** The cost of reading a date, in units of the pace. */
const unitsPerDate = 50;

/** What dates are told apart by. */
export function momentOf(writing: PlainValue): PlainValue {
  return parseDate(writing) ?? writing;
}

/** Orders dates by their moments. */
export function compareMoments(a: PlainValue, b: PlainValue): number {
  workBudget.units += unitsPerDate;
  return compareValues(momentOf(a), momentOf(b));
}

/** Of each moment the first writing. */
export function firstWritings(writings: Iterable<PlainValue>): PlainValue[] {
  const first = new Map<PlainValue, PlainValue>();
  for (const writing of writings) {
    const moment = momentOf(writing);
    const known = first.get(moment);
    if (known === undefined || compareValues(writing, known) < 0) first.set(moment, writing);
  }
  return [...first.values()];
}

/** Notes how dates are written. As long as all are written alike, no moment has two writings. */
export class Writings {
  readonly #forms = new Set<string>();

  note(writing: PlainValue): void {
    this.#forms.add(formOf(writing));
  }

  get areMixed(): boolean {
    return this.#forms.size > 1 || this.#forms.has(otherForm);
  }
}

const otherForm = 'other';
/** A day; a second, with `Z` or without; a millisecond with `Z`. */
const usualForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3}Z|Z?))?$/;

function formOf(writing: PlainValue): string {
  if (typeof writing !== 'string') return typeof writing;
  return usualForm.test(writing) ? String(writing.length) : otherForm;
}

/** Adds the counts of the writings of each moment up, for the first of them. */
export function* joinMoments(dictionary: ValueDictionary, tally: CodeTally): Steps<void> {
  const codes = new Map<PlainValue, number>();
  for (let at = 0; at < tally.size; at += 1) {
    const code = tally.codeAt(at);
    const writing = dictionary.valueOf(code);
    const moment = momentOf(writing);
    const known = codes.get(moment) ?? code;
    const isFirst = compareValues(writing, dictionary.valueOf(known)) < 0;
    if (known !== code) tally.join(isFirst ? known : code, isFirst ? code : known);
    codes.set(moment, isFirst ? code : known);
    workBudget.units += unitsPerDate;
    if (workBudget.isOver()) yield;
  }
  tally.leaveOutEmpty();
}

/** The groups of shards, where each moment has the first of its writings in all of them. */
export function writtenAlike(parts: readonly FacetGroups[]): FacetGroups[] {
  const writings = firstWritings(parts.flatMap(({ groups }) => groups.map(({ value }) => value)));
  const byMoment = new Map(writings.map((writing) => [momentOf(writing), writing]));
  return parts.map((part) => ({
    ...part,
    groups: part.groups.map(({ value, count }) => ({ value: byMoment.get(momentOf(value)) ?? value, count })),
  }));
}
