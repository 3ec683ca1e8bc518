/** `npm run bench -- postings`: posting lists of our own beside FlexSearch's index, and what each part of a text index costs. */

import { Index } from 'flexsearch';
import type { TextRules } from '../src/schemas/definition/index-texts.ts';
import { Analyzer, plainAnalyzer } from '../src/search/analysis/analyzer.ts';
import { Bitmap } from '../src/search/bitmap.ts';
import { atOnce } from '../src/search/pace.ts';
import { FieldText } from '../src/search/text/field-text.ts';
import { wordsOf } from '../src/search/text/words.ts';
import { cityItems, type ItemSet, packageItems } from './support/data/items.ts';
import { heapBytes } from './support/platform/heap.ts';
import { figure, type Table } from './support/report/table.ts';
import { runBench } from './support/run.ts';

/** An index of texts by doc id. */
interface Postings {
  add(doc: number, text: string): void;
  /** @returns how many docs are found */
  find(word: string): number;
  /** Null: it finds no beginnings. */
  readonly findBeginning: ((beginning: string) => number) | null;
  /** Takes docs out. */
  remove(docs: readonly number[]): void;
}

const makers: Readonly<Record<string, () => Postings>> = {
  'lists of our own': () => ownPostings(),
  'FlexSearch, fastupdate off': () => flexPostings({ tokenize: 'strict', fastupdate: false }),
  'FlexSearch, fastupdate on': () => flexPostings({ tokenize: 'strict', fastupdate: true }),
  'FlexSearch, forward': () => flexPostings({ tokenize: 'forward', fastupdate: true }),
};

function ownPostings(analyzer: Analyzer = plainAnalyzer): Postings {
  const text = new FieldText(analyzer);
  return {
    add: (doc, value) => void atOnce(text.add(doc, [value])),
    find: (word) => text.words.docsOf(word).length,
    findBeginning: (beginning) => {
      let found = 0;
      for (const { docs } of atOnce(text.words.expandBeginning(beginning, 0))) found += docs.length;
      return found;
    },
    remove: (docs) => {
      const dead = new Bitmap(Math.max(...docs) + 1);
      for (const doc of docs) dead.add(doc);
      while (!text.words.sweep(dead, 4096));
    },
  };
}

function flexPostings(options: {
  readonly tokenize: 'strict' | 'forward';
  readonly fastupdate: boolean;
}): Postings {
  // Words are cut by us, so that all have the same. Without slots for relevance it takes the least memory.
  const index = new Index({ ...options, resolution: 1, encode: wordsOf });
  const limit = 10_000_000;
  return {
    add: (doc, value) => void index.add(doc, value),
    find: (word) => index.search(word, { limit }).length,
    findBeginning: options.tokenize === 'forward' ? (word) => index.search(word, { limit }).length : null,
    remove: (docs) => {
      for (const doc of docs) index.remove(doc);
    },
  };
}

interface Filled {
  readonly postings: Postings;
  readonly microseconds: number;
  readonly bytes: number;
}

/** Time and memory for each text. */
function fill(make: () => Postings, texts: readonly string[]): Filled {
  const before = heapBytes();
  const startedMs = performance.now();
  const postings = make();
  for (const [doc, text] of texts.entries()) postings.add(doc, text);
  const microseconds = ((performance.now() - startedMs) * 1000) / texts.length;
  return { postings, microseconds, bytes: (heapBytes() - before) / texts.length };
}

/** Microseconds of a call, in the mean over the arguments. */
function timeOf<T>(run: (argument: T) => unknown, args: readonly T[]): number {
  const startedMs = performance.now();
  for (const argument of args) run(argument);
  return ((performance.now() - startedMs) * 1000) / args.length;
}

/** Removing from FlexSearch without `fastupdate` takes milliseconds, so few are removed. */
const removedMax = 300;

function comparison({ name, items }: ItemSet): Table {
  const texts = items.map(({ text }) => text);
  const words = [...new Set(texts.slice(0, 5_000).flatMap(wordsOf))]
    .filter((word) => word.length > 3)
    .slice(0, 2_000);
  const beginnings = words.slice(0, 200).map((word) => word.slice(0, 4));
  const removed = Array.from({ length: Math.min(removedMax, texts.length) }, (_, doc) => doc);
  const rows = Object.entries(makers).map(([maker, make]) => {
    const { postings, microseconds, bytes } = fill(make, texts);
    const { findBeginning } = postings;
    const times = [
      timeOf(postings.find, words),
      findBeginning === null ? Number.NaN : timeOf(findBeginning, beginnings),
      timeOf(postings.remove, [removed]) / removed.length,
    ];
    return [maker, ...[microseconds, bytes, ...times].map(figure)];
  });
  return {
    title: `Postings of ${name} (${items.length.toLocaleString('en-US')} texts)`,
    columns: [
      '',
      'fill µs a text',
      'bytes a text',
      'one word µs',
      'a beginning µs',
      `removal µs of ${removed.length}`,
    ],
    rows,
  };
}

const noRules: TextRules = { language: null, foldAccents: false };
const synonyms = [
  { from: ['saint'], to: ['st'] },
  { from: ['new town', 'newtown'], to: ['new town', 'newtown'] },
];
const parts: Readonly<Record<string, () => Analyzer>> = {
  'as they are': () => plainAnalyzer,
  'with foldAccents': () => new Analyzer({ ...noRules, foldAccents: true }),
  'with a language': () => new Analyzer({ ...noRules, language: 'en' }),
  'with synonyms': () => new Analyzer(noRules, synonyms),
  'with all three': () => new Analyzer({ language: 'en', foldAccents: true }, synonyms),
};

function costOfParts({ name, items }: ItemSet): Table {
  const texts = items.map(({ text }) => text);
  return {
    title: `Words of ${name}: what each part costs a text`,
    columns: ['', 'fill µs a text', 'bytes a text'],
    rows: Object.entries(parts).map(([part, analyzer]) => {
      const { microseconds, bytes } = fill(() => ownPostings(analyzer()), texts);
      return [part, figure(microseconds), figure(bytes)];
    }),
  };
}

await runBench({
  name: 'postings',
  question:
    "Why are posting lists not FlexSearch's? The words of city names and of package descriptions, cut by FlexSearch's encoder for all, in lists of our own and in its `Index` through its public interface; and what folding, a language and synonyms cost.",
  unfair: [
    'Against FlexSearch: its index also knows which docs there are and ranks them; our shard does both elsewhere, for all fields at once.',
    'Against us: a search here is a look at one list, and its `search` copies the ids.',
    'Removal is of some texts one after the other; ours sweeps them together, as a shard does.',
  ],
  async run(context) {
    const cities = await cityItems(context.quick ? 3_000 : Number.POSITIVE_INFINITY);
    const packages = await packageItems();
    const sets = [cities, packages].filter((set) => set !== null);
    return {
      tables: [...sets.map(comparison), ...sets.map(costOfParts)],
      charts: [],
      targets: [],
    };
  },
});
