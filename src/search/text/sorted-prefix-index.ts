import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { merged, sorted } from '../../lib/slices/merge-sort.ts';
import type { TermsById } from './deletion-neighborhood-index.ts';

/** The cost of reading a term, in units of the work budget. */
const lookUnits = 20;

const astral = 0x10000;
const astralCount = 0x100000;

/** Ranks code points in UTF-16 order, where those of two units sort before U+E000. */
function rankOf(codePoint: number): number {
  return codePoint < astral ? codePoint * astralCount : 0xd800 * astralCount + codePoint - astral;
}

/** Term ids, sorted by their terms. */
class TermList {
  readonly #terms: TermsById;
  readonly #termIds: Int32Array;

  constructor(terms: TermsById, termIds: Int32Array) {
    this.#terms = terms;
    this.#termIds = termIds;
  }

  textAt(at: number): string {
    workBudget.units += lookUnits;
    return this.#terms.at(this.#termIds[at] ?? 0) ?? '';
  }

  /** Position of the first term from `from` to before `high` whose code point after `units` units ranks above `rank`. */
  firstAbove(rank: number, from: number, high: number, units: number): number {
    const isAbove = (at: number) => rankOf(this.textAt(at).codePointAt(units) ?? 0) > rank;
    let low = from;
    let step = 1;
    while (low + step <= high && !isAbove(low + step - 1)) {
      low += step;
      step *= 2;
    }
    let end = Math.min(high, low + step);
    while (low < end) {
      const middle = (low + end) >>> 1;
      if (isAbove(middle)) end = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Terms that continue with the same code point: from `low` to before `high`. */
interface Branch {
  readonly codePoint: number;
  readonly low: number;
  readonly high: number;
}

/** The branches of the terms that share their first `units` units and are longer. */
function branchesOf(list: TermList, from: number, high: number, units: number): Branch[] {
  const branches: Branch[] = [];
  for (let low = from; low < high; ) {
    const codePoint = list.textAt(low).codePointAt(units) ?? 0;
    const end = list.firstAbove(rankOf(codePoint), low, high, units);
    branches.push({ codePoint, low, high: end });
    low = end;
  }
  return branches;
}

/** A common prefix of terms, with the distances of the word's prefixes to it: a row of `edit-distance.ts`. */
class Node {
  /** The terms from `low` to before `high`. */
  low = 0;
  high = 0;
  /** Its length in UTF-16 units. */
  readonly units: number;
  /** Its last code point, and the prefix without it; null for the empty prefix. */
  readonly lastPoint: number;
  readonly before: Node | null;
  readonly row: Uint8Array;
  /** Minimum of the row, which is a lower bound for all longer prefixes. */
  readonly least: number;
  /** Minimum distance of the word to this prefix and to shorter ones. */
  readonly best: number;

  constructor(before: Node | null, lastPoint: number, row: Uint8Array, least: number) {
    const distance = row[row.length - 1] ?? 0;
    this.before = before;
    this.lastPoint = lastPoint;
    this.row = row;
    this.least = least;
    this.units = before === null ? 0 : before.units + (lastPoint < astral ? 1 : 2);
    this.best = before === null ? distance : Math.min(before.best, distance);
  }
}

/**
 * Terms in UTF-16 order, to find those that start with a word or something near it. Terms with the same prefix are adjacent, so
 * the order is traversed like a trie. If no longer prefix can be nearer, all terms of a prefix are returned together. If a
 * prefix cannot lead to a match, it is skipped.
 */
export class SortedPrefixIndex {
  /** The terms with ids below this are in the order. */
  readonly end: number;
  readonly #termIds: Int32Array;
  readonly #list: TermList;
  /** Terms of each first code point. Finding them would take most of the time of a short search. */
  readonly #firsts: readonly Branch[];

  private constructor(terms: TermsById, end: number, termIds: Int32Array) {
    this.end = end;
    this.#termIds = termIds;
    this.#list = new TermList(terms, termIds);
    this.#firsts = branchesOf(this.#list, 0, termIds.length, 0);
  }

  /** Sorts the terms with ids below `end`. Their texts must remain. @param former an index of the first of them; null: none */
  static *of(terms: TermsById, end: number, former: SortedPrefixIndex | null): Steps<SortedPrefixIndex> {
    const from = former?.end ?? 0;
    const added = Array.from({ length: end - from }, (_, at) => from + at);
    const compare = (a: number, b: number) => {
      const [textA = '', textB = ''] = [terms.at(a), terms.at(b)];
      return textA < textB ? -1 : textA > textB ? 1 : 0;
    };
    const inOrder = yield* sorted(added, compare);
    const all = former === null ? inOrder : yield* merged(Array.from(former.#termIds), inOrder, compare);
    return new SortedPrefixIndex(terms, end, Int32Array.from(all));
  }

  get bytes(): number {
    return this.#termIds.byteLength;
  }

  /** Adds the ids of terms with a prefix within `bound` of a word to the list of their distance. */
  *collect(word: readonly number[], bound: number, into: readonly number[][]): Steps<void> {
    const walk = new Walk(word, bound, this.#list, this.#firsts);
    while (walk.isMore()) {
      walk.go();
      if (workBudget.isOver()) yield;
    }
    for (const [distance, stretches] of walk.stretches.entries()) {
      const termIds = into[distance] ?? [];
      for (let at = 0; at < stretches.length; at += 2) {
        const [low = 0, high = 0] = stretches.slice(at, at + 2);
        for (let at = low; at < high; at += 1) termIds.push(this.#termIds[at] ?? 0);
        workBudget.units += high - low;
        if (workBudget.isOver()) yield;
      }
    }
  }
}

/** A traversal of prefixes, by optimal string alignment (`edit-distance.ts`). */
class Walk {
  /** Positions of the found terms, by distance: ranges of the order. */
  readonly stretches: readonly number[][] = [[], [], []];
  readonly #word: readonly number[];
  readonly #letters: readonly number[];
  readonly #bound: number;
  readonly #list: TermList;
  readonly #open: Node[] = [];

  constructor(word: readonly number[], bound: number, list: TermList, firsts: readonly Branch[]) {
    this.#word = word;
    this.#letters = [...new Set(word)];
    this.#bound = bound;
    this.#list = list;
    const row = Uint8Array.from({ length: word.length + 1 }, (_, at) => Math.min(at, bound + 1));
    const root = new Node(null, 0, row, 0);
    for (const first of firsts) this.#follow(root, first);
  }

  isMore(): boolean {
    return this.#open.length > 0;
  }

  /** Visits prefixes until it is time to check the clock. */
  go(): void {
    while (workBudget.units < workBudget.unitsPerClockCheck) {
      const node = this.#open.pop();
      if (node === undefined) return;
      this.#visit(node);
    }
  }

  #visit(node: Node): void {
    const { low, high, units, least, best } = node;
    if (least >= best) {
      this.#give(low, high, best);
      return;
    }
    let from = low;
    while (from < high && this.#list.textAt(from).length === units) from += 1;
    this.#give(low, from, best);
    if (least === this.#bound) this.#followLetters(node, from);
    else for (const branch of branchesOf(this.#list, from, high, units)) this.#follow(node, branch);
  }

  #give(low: number, high: number, distance: number): void {
    if (distance <= this.#bound && low < high) this.stretches[distance]?.push(low, high);
  }

  /** When all edits are used up, only letters of the word can continue, and no prefix so far was near. */
  #followLetters(node: Node, from: number): void {
    for (const codePoint of this.#letters) {
      const child = this.#child(node, codePoint);
      // Most are dead ends, and finding their terms would take longer.
      if (child === null) continue;
      const rank = rankOf(codePoint);
      const low = this.#list.firstAbove(rank - 1, from, node.high, node.units);
      const high = this.#list.firstAbove(rank, low, node.high, node.units);
      this.#enter(child, low, high);
    }
  }

  #follow(node: Node, { codePoint, low, high }: Branch): void {
    const child = this.#child(node, codePoint);
    if (child === null) this.#give(low, high, node.best);
    else this.#enter(child, low, high);
  }

  #enter(node: Node, low: number, high: number): void {
    if (low === high) return;
    node.low = low;
    node.high = high;
    this.#open.push(node);
  }

  /** The prefix with one more code point; null if nothing near starts with it. */
  #child(node: Node, codePoint: number): Node | null {
    const word = this.#word;
    const { row: above, before, lastPoint } = node;
    const far = this.#bound + 1;
    const row = new Uint8Array(word.length + 1);
    let least = Math.min((above[0] ?? far) + 1, far);
    row[0] = least;
    for (let at = 1; at <= word.length; at += 1) {
      let cost = (above[at - 1] ?? far) + (word[at - 1] === codePoint ? 0 : 1);
      cost = Math.min(cost, (above[at] ?? far) + 1, (row[at - 1] ?? far) + 1);
      const isSwap = before !== null && at > 1 && word[at - 2] === codePoint && word[at - 1] === lastPoint;
      if (isSwap) cost = Math.min(cost, (before.row[at - 2] ?? far) + 1);
      row[at] = Math.min(cost, far);
      least = Math.min(least, cost);
    }
    workBudget.units += word.length;
    return least > this.#bound ? null : new Node(node, codePoint, row, least);
  }
}
