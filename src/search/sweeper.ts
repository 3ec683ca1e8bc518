import { Bitmap } from './bitmap.ts';
import type { TextIndex } from './text-index.ts';

/** A sweep begins when this many docs are dead, and a quarter as many as live. */
const deadDocsMin = 1024;
const deadShare = 4;
/** Work of one step beside its share: the smaller the index, the more this matters. */
const stepPostingsMin = 256;
/** A step does this many docs' worth of postings, so that a sweep ends long before the next is due. */
const stepDocs = 16;

const wholeBudget = 2 ** 31 - 1;

/**
 * Takes dead docs out of the inverted indexes, a little with every change, so that no change waits for a whole index
 * and the dead never outweigh the living. A doc's id is given back only when no list holds it any more.
 */
export class Sweeper {
  readonly #texts: TextIndex[] = [];
  readonly #giveBack: (doc: number) => void;
  /** Dead docs that wait for the next sweep. */
  #waiting: number[] = [];
  /** Those of the sweep under way; empty when there is none. */
  #sweeping: number[] = [];
  #dead = new Bitmap(0);
  #textAt = 0;

  constructor(giveBack: (doc: number) => void) {
    this.#giveBack = giveBack;
  }

  watch(text: TextIndex): void {
    this.#texts.push(text);
  }

  /** The doc is dead, and some text index has it. */
  bury(doc: number): void {
    this.#waiting.push(doc);
  }

  /** To be called with every change. */
  step(liveCount: number): void {
    if (this.#sweeping.length === 0) {
      if (this.#waiting.length < Math.max(deadDocsMin, liveCount / deadShare)) return;
      this.#begin();
    }
    let postings = 0;
    for (const text of this.#texts) postings += text.postingCount + text.termCount;
    this.#advance(stepPostingsMin + Math.ceil((stepDocs * postings) / (liveCount + 1)));
  }

  /** After many docs went at once. */
  finishIfMostlyDead(liveCount: number): void {
    while (this.#sweeping.length + this.#waiting.length > Math.max(deadDocsMin, liveCount)) {
      if (this.#sweeping.length === 0) this.#begin();
      this.#advance(wholeBudget);
    }
  }

  #begin(): void {
    this.#sweeping = this.#waiting;
    this.#waiting = [];
    this.#textAt = 0;
    const highest = this.#sweeping.reduce((most, doc) => Math.max(most, doc), 0);
    this.#dead = new Bitmap(highest + 1);
    for (const doc of this.#sweeping) this.#dead.add(doc);
  }

  #advance(budget: number): void {
    const text = this.#texts[this.#textAt];
    if (text !== undefined) {
      if (text.sweep(this.#dead, budget)) this.#textAt += 1;
      return;
    }
    const last = Math.max(0, this.#sweeping.length - Math.max(1, budget >>> 4));
    for (const doc of this.#sweeping.splice(last)) this.#giveBack(doc);
  }
}
