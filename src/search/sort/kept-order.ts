/**
 * The order of a column's docs, kept while it pays. It is sorted once scans without it have cost as much, and given up when
 * many docs have changed. So an import, which wears it again and again, does not have it sorted for each query between.
 */
import type { Steps } from '../../lib/cooperative-yield.ts';
import { current } from '../phase.ts';
import { SortedDocs } from './sorted-docs.ts';

/** To sort the docs costs about as much as so many scans. */
export const scansPerSort = 64;

export class KeptOrder {
  #docs: SortedDocs | null = null;
  /** Since the order was given up. */
  #scans = 0;

  get bytes(): number {
    return this.#docs?.bytes ?? 0;
  }

  /** @param values of the column, by doc; NaN for none @returns null when the caller is to scan */
  *asked(values: Float64Array): Steps<SortedDocs | null> {
    if (this.#docs !== null) return this.#docs;
    if (this.#scans < scansPerSort) {
      this.#scans += 1;
      return null;
    }
    const { phase, detail } = current;
    current.enter('shared');
    const docs = yield* SortedDocs.of(values);
    current.enter(phase, detail);
    this.#docs = docs;
    return docs;
  }

  /** Notes that a doc's number changes. @param before NaN for none */
  move(doc: number, before: number): void {
    if (this.#docs === null) return;
    this.#docs.move(doc, before);
    if (!this.#docs.isWorn) return;
    this.#docs = null;
    this.#scans = 0;
  }
}
