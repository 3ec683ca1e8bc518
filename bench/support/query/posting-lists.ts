/** Posting lists of a text field: ours, and those of FlexSearch's `Index` through its public interface. */
import { Index, type IndexOptions } from 'flexsearch';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { type Analyzer, plainAnalyzer } from '../../../src/search/analysis/analyzer.ts';
import { wordsOf } from '../../../src/search/analysis/words.ts';
import { Bitmap } from '../../../src/search/bitmap.ts';
import { FieldText } from '../../../src/search/text/field-text.ts';
import type { DocRun } from '../../../src/search/text/postings.ts';
import type { TextIndex } from '../../../src/search/text/text-index.ts';

/** An index of texts by doc id. */
export interface PostingLists {
  add(doc: number, text: string): void;
  /** @returns how many docs are found */
  find(word: string): number;
  /** Null: it supports no prefixes. */
  readonly findPrefix: ((prefix: string) => number) | null;
  /** Removes docs. */
  remove(docs: readonly number[]): void;
}

export function ownLists(analyzer: Analyzer = plainAnalyzer): PostingLists {
  const text = new FieldText(analyzer);
  return {
    add: (doc, value) => void runSync(text.add(doc, [value])),
    find: (word) => countDocs(text.words, text.words.terms.termIdsOf(word)),
    findPrefix: (prefix) => countDocs(text.words, runSync(text.words.terms.prefixWithin(prefix, 0)).flat()),
    remove: (docs) => {
      const dead = new Bitmap(Math.max(...docs) + 1);
      for (const doc of docs) dead.add(doc);
      while (!text.words.sweep(dead, 4096));
    },
  };
}

function countDocs(index: TextIndex, termIds: readonly number[]): number {
  const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };
  let count = 0;
  for (const termId of termIds) {
    index.postings.show(termId, run);
    count += run.end - run.from;
  }
  return count;
}

/** `resolution: 1` has no slot for relevance, and takes the least memory. Words are tokenized by us, so that all have the same. */
export const flexOptions: Readonly<Record<string, IndexOptions>> = {
  '`Index`, `fastupdate: false`': { resolution: 1, fastupdate: false },
  '`Index`, `fastupdate: true`': { resolution: 1, fastupdate: true },
  '`Index`, `resolution: 9`': { resolution: 9, fastupdate: true },
  '`Index`, `context`': {
    resolution: 1,
    fastupdate: true,
    context: { resolution: 1, depth: 1, bidirectional: true },
  },
  '`Index`, `tokenize: forward`': { resolution: 1, fastupdate: true, tokenize: 'forward' },
};

const limit = 10_000_000;

export function flexIndex(options: IndexOptions): Index {
  return new Index({ tokenize: 'strict', ...options, encode: wordsOf });
}

export function flexLists(options: IndexOptions): PostingLists {
  const index = flexIndex(options);
  const find = (word: string) => index.search(word, { limit }).length;
  return {
    add: (doc, value) => void index.add(doc, value),
    find,
    findPrefix: options.tokenize === 'forward' ? find : null,
    remove: (docs) => {
      for (const doc of docs) index.remove(doc);
    },
  };
}
