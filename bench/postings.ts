/** `npm run bench -- postings`: FlexSearch as a text index, part by part, compared with ours. */

import type { Index, IndexOptions } from 'flexsearch';
import type { TextRules } from '../src/schemas/definition/index-texts.ts';
import { Analyzer, plainAnalyzer } from '../src/search/analysis/analyzer.ts';
import { wordsOf } from '../src/search/analysis/words.ts';
import { cityItems, type ItemSet, packageItems } from './support/data/items.ts';
import { heapBytes } from './support/platform/heap.ts';
import { pairsOf, writings } from './support/query/flexsearch-words.ts';
import {
  flexIndex,
  flexLists,
  flexOptions,
  ownLists,
  type PostingLists,
} from './support/query/posting-lists.ts';
import { quantile } from './support/report/statistics.ts';
import { figure, type Table } from './support/report/table.ts';
import { runBench } from './support/run.ts';

const makers: Readonly<Record<string, () => PostingLists>> = {
  'lists of our own': () => ownLists(),
  ...Object.fromEntries(
    Object.entries(flexOptions).map(([name, options]) => [name, () => flexLists(options)]),
  ),
};

/** Mean time of a call over the arguments, in microseconds. */
function timeOf<T>(run: (argument: T, at: number) => unknown, args: readonly T[]): number {
  const startedMs = performance.now();
  for (const [at, argument] of args.entries()) run(argument, at);
  return ((performance.now() - startedMs) * 1000) / args.length;
}

interface Filled {
  readonly lists: PostingLists;
  readonly microseconds: number;
  readonly bytes: number;
}

/** Time and memory per text. */
function fill(make: () => PostingLists, texts: readonly string[]): Filled {
  const before = heapBytes();
  const lists = make();
  const microseconds = timeOf((text, doc) => lists.add(doc, text), texts);
  return { lists, microseconds, bytes: (heapBytes() - before) / texts.length };
}

/** Removing from FlexSearch without `fastupdate` takes milliseconds, so few are removed. */
const removedMax = 300;

type Figures = readonly number[];

function figuresOf(make: () => PostingLists, texts: readonly string[]): Figures {
  const words = [...new Set(texts.slice(0, 5_000).flatMap(wordsOf))]
    .filter((word) => word.length > 3)
    .slice(0, 2_000);
  const prefixes = words.slice(0, 200).map((word) => word.slice(0, 4));
  const removed = Array.from({ length: Math.min(removedMax, texts.length) }, (_, doc) => doc);
  const { lists, microseconds, bytes } = fill(make, texts);
  const { findPrefix } = lists;
  // The first prefix search sorts our terms; on a platform that happens in slices between other searches.
  findPrefix?.('zzzz');
  return [
    microseconds,
    bytes,
    timeOf(lists.find, words),
    findPrefix === null ? Number.NaN : timeOf(findPrefix, prefixes),
    timeOf(lists.remove, [removed]) / removed.length,
  ];
}

function comparison({ name, items }: ItemSet, rounds: number): Table {
  const texts = items.map(({ text }) => text);
  return {
    title: `Postings of ${name} (${items.length.toLocaleString('en-US')} texts)`,
    columns: [
      '',
      'fill µs a text',
      'bytes a text',
      'one word µs',
      'a beginning µs',
      `removal µs of ${removedMax}`,
    ],
    rows: inRounds(makers, rounds, (make) => figuresOf(make, texts)),
  };
}

/** Each contender once per round; medians of the figures. */
function inRounds<T>(
  contenders: Readonly<Record<string, T>>,
  rounds: number,
  measure: (contender: T) => Figures,
): string[][] {
  const measured = new Map<string, Figures[]>(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, contender] of Object.entries(contenders)) measured.get(name)?.push(measure(contender));
  }
  return [...measured].map(([name, all]) => [
    name,
    ...(all[0] ?? []).map((_, column) =>
      figure(
        quantile(
          all.map((one) => one[column] ?? Number.NaN),
          0.5,
        ),
      ),
    ),
  ]);
}

/** An index that is exported, and one that is imported from it, compared with one that is filled from texts. */
function exports({ name, items }: ItemSet): Table {
  const texts = items.map(({ text }) => text);
  return {
    title: `An exported index of ${name}`,
    columns: ['', 'fill µs a text', 'export µs a text', 'import µs a text', 'exported bytes a text'],
    rows: Object.entries(flexOptions).map(([option, options]) => [
      option,
      ...exportOf(options, texts).map(figure),
    ]),
  };
}

function exportOf(options: IndexOptions, texts: readonly string[]): Figures {
  const index = flexIndex(options);
  const filling = timeOf((text, doc) => index.add(doc, text), texts);
  const parts: (readonly [key: string, data: string])[] = [];
  const exporting = timeOf(() => index.export((key, data) => void parts.push([key, data])), [null]);
  // `import` throws in an index with `fastupdate`, and turns it off.
  const other = flexIndex({ ...options, fastupdate: false });
  const importing = timeOf(() => importInto(other, parts), [null]);
  const bytes = parts.reduce((sum, [, data]) => sum + Buffer.byteLength(data ?? ''), 0);
  return [filling, exporting / texts.length, importing / texts.length, bytes / texts.length];
}

function importInto(index: Index, parts: readonly (readonly [key: string, data: string])[]): void {
  for (const [key, data] of parts) index.import(key, data);
}

/** Rounds over the texts before an encoder is timed: the compiler needs some. */
const warmTexts = 2_000;

function words({ name, items }: ItemSet): Table {
  const texts = items.map(({ text }) => text);
  const distinct = [...new Set(texts.flatMap(wordsOf))];
  return {
    title: `Words of ${name}: which of ${distinct.length.toLocaleString('en-US')} are written alike`,
    columns: ['', 'µs a text', 'pairs promised', 'of them kept', 'pairs besides'],
    rows: writings.map((writing) => {
      timeOf(writing.write, texts.slice(0, warmTexts));
      const { promised, kept, others } = pairsOf(writing, distinct);
      return [writing.name, ...[timeOf(writing.write, texts), promised, kept, others].map(figure)];
    }),
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

function costOfParts({ name, items }: ItemSet, rounds: number): Table {
  const texts = items.map(({ text }) => text);
  return {
    title: `Words of ${name}: what each part costs a text`,
    columns: ['', 'fill µs a text', 'bytes a text'],
    rows: inRounds(parts, rounds, (analyzer) => {
      const { microseconds, bytes } = fill(() => ownLists(analyzer()), texts);
      return [microseconds, bytes];
    }),
  };
}

await runBench({
  name: 'postings',
  question:
    'What can FlexSearch do for a text index? The words of city names and of package descriptions: in our own lists and in its `Index`, all words tokenized by its encoder; as its normalizers and its language pack write them; an index from its `export`. And the cost of folding, a language and synonyms.',
  caveats: [
    'Against FlexSearch: its index also knows which docs there are and ranks them; our shard does both elsewhere, for all fields at once.',
    'Against us: a search here is a lookup of one list, and its `search` copies the ids.',
    'Some texts are removed one by one; ours sweeps them together, like a shard.',
    'Against FlexSearch: the guarantee for English is the behavior of the Snowball stemmer, which is ours. A pair of words that only the language pack matches may be a good one.',
  ],
  async run(context) {
    const cities = await cityItems(context.quick ? 3_000 : Number.POSITIVE_INFINITY);
    const packages = await packageItems();
    const sets = [cities, packages].filter((set) => set !== null);
    const rounds = context.quick ? 1 : 3;
    return {
      tables: [
        ...sets.map((set) => comparison(set, rounds)),
        ...sets.map(exports),
        ...sets.map(words),
        ...sets.map((set) => costOfParts(set, rounds)),
      ],
      charts: [],
      targets: [],
    };
  },
});
