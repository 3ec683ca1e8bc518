import { workBudget } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import type { TextIndex } from '../text/text-index.ts';

/** A sweep begins if at least this many docs are dead, and a quarter of the number of live docs. */
const deadDocsMin = 1024;
const deadShare = 4;
/** Minimum work of a step, for small indexes. */
const stepPostingsMin = 256;
/** A step handles the postings of this many docs, so that a sweep ends long before the next is due. */
const stepDocs = 16;

const advanceMax = 4096;
/** The cost of a posting, in units of the work budget. */
const unitsPerPosting = 10;

/**
 * Removes dead docs from the inverted indexes incrementally with every change. So no change waits for a whole index, and dead
 * docs never outnumber live ones. The id of a doc is only freed when no list has it.
 */
export class Sweeper {
  readonly #texts: TextIndex[] = [];
  readonly #releaseDoc: (doc: number) => void;
  /** Dead docs for the next sweep. */
  #waiting: number[] = [];
  /** Dead docs of the current sweep; empty if there is none. */
  #sweeping: number[] = [];
  #dead = new Bitmap(0);
  #textAt = 0;

  constructor(releaseDoc: (doc: number) => void) {
    this.#releaseDoc = releaseDoc;
  }

  watch(text: TextIndex): void {
    this.#texts.push(text);
  }

  /** Records a dead doc that is in a text index. */
  bury(doc: number): void {
    this.#waiting.push(doc);
  }

  /** The amount of work per change, for `advance`. */
  dueWith(liveCount: number): number {
    if (this.#sweeping.length === 0 && this.#waiting.length < Math.max(deadDocsMin, liveCount / deadShare)) {
      return 0;
    }
    let postings = 0;
    for (const text of this.#texts) postings += text.postingCount + text.termCount;
    return stepPostingsMin + Math.ceil((stepDocs * postings) / (liveCount + 1));
  }

  /** True after removing many docs at once. Then `advance` must be called until this is false. */
  isMostlyDead(liveCount: number): boolean {
    return this.#sweeping.length + this.#waiting.length > Math.max(deadDocsMin, liveCount);
  }

  /** Does a small part of the work. @returns the remaining work */
  advance(work: number): number {
    if (this.#sweeping.length === 0) this.#begin();
    const budget = Math.min(work, advanceMax);
    workBudget.units += unitsPerPosting * budget;
    this.#sweep(budget);
    return this.#sweeping.length === 0 ? 0 : work - budget;
  }

  #begin(): void {
    this.#sweeping = this.#waiting;
    this.#waiting = [];
    this.#textAt = 0;
    const highest = this.#sweeping.reduce((most, doc) => Math.max(most, doc), 0);
    this.#dead = new Bitmap(highest + 1);
    for (const doc of this.#sweeping) this.#dead.add(doc);
  }

  #sweep(budget: number): void {
    const text = this.#texts[this.#textAt];
    if (text !== undefined) {
      if (text.sweep(this.#dead, budget)) this.#textAt += 1;
      return;
    }
    const last = Math.max(0, this.#sweeping.length - Math.max(1, budget >>> 4));
    for (const doc of this.#sweeping.splice(last)) this.#releaseDoc(doc);
  }
}
