import { type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { fitField } from '../fields/fit.ts';
import { sentValue } from '../fields/paths.ts';
import type { DocTable } from './doc-table.ts';
import type { Field } from './field.ts';

/** The cost of reading an item, in units of the pace, besides a unit for each character. */
const unitsPerItem = 1000;

/** Gives a new field the values that items have and that fit its type. */
export function* fillField(name: string, field: Field, docs: DocTable): Steps<void> {
  for (const doc of docs.all()) {
    workBudget.units += unitsPerItem + docs.textBytesOf(doc).length;
    const made = docs.readFields(doc);
    const sent = sentValue(made instanceof Suspended ? yield* made.steps : made, name);
    const value = sent instanceof Suspended ? yield* sent.steps : sent;
    if (value !== null) {
      const fitted = fitField(field.type, value);
      const fit = fitted instanceof Suspended ? yield* fitted.steps : fitted;
      if (fit.ok && (yield* field.set(doc, fit.value, docs.capacity))) docs.markIndexed(doc);
    }
    if (workBudget.isOver()) yield;
  }
}
