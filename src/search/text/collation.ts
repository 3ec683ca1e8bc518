import { compareText } from './code-points.ts';

/** Made once for each tag, because making one costs as much as thousands of comparisons. */
const collators = new Map<string, Intl.Collator>();

/** Compares in the order of a locale, numbers in a text by their size, then by code points. */
export function compareCollated(tag: string, a: string, b: string): number {
  let collator = collators.get(tag);
  if (collator === undefined) {
    collator = new Intl.Collator(tag, { numeric: true });
    collators.set(tag, collator);
  }
  return collator.compare(a, b) || compareText(a, b);
}
