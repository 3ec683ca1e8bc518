/** Memory and build time of each part of a search, per item of an index. */
import type { IndexTexts, TextRules } from '../../../src/schemas/definition/index-texts.ts';
import { checkQuery } from '../../../src/search/check/query.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import type { Item } from '../data/items.ts';
import { heapBytes } from '../platform/heap.ts';
import { figure, type Table } from '../report/table.ts';
import { schemaFields } from './direct-shard.ts';
import type { BenchQuery } from './kinds.ts';

/** Searches build the index of near words in steps. After this many it is complete. */
const searches = 400;

interface Part {
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldType>;
  /** Absent: texts are used unchanged. */
  readonly texts?: IndexTexts;
  /** Queries that build the part; none: it exists from the beginning, or not at all. */
  readonly queries: readonly BenchQuery[];
}

/** Without one of the two keywords. */
const threeFields = new Map([...schemaFields].filter(([name]) => name !== 'name'));

const rules = (own: Partial<TextRules>): IndexTexts => {
  return { rules: new Map([['text', { language: null, foldAccents: false, ...own }]]), synonyms: [] };
};
const synonyms: IndexTexts = { rules: new Map(), synonyms: [{ from: ['saint'], to: ['st', 'sankt peter'] }] };
const typo: BenchQuery = { search: { field: 'text', value: 'abcdefg', literal: false } };
const parts: readonly Part[] = [
  {
    name: 'beginnings of words',
    fields: schemaFields,
    queries: [{ search: { field: 'text', value: 'abc', literal: true, prefix: true } }],
  },
  {
    name: 'highlights',
    fields: schemaFields,
    queries: [{ search: { field: 'text', value: 'abc', literal: true }, highlight: {} }],
  },
  { name: 'typos', fields: schemaFields, queries: Array.from({ length: searches }, () => typo) },
  {
    name: 'parts of names (`*word*`)',
    fields: schemaFields,
    queries: [
      {
        filters: {
          and: [{ field: 'name', operator: 'contains', value: '*abcd*', caseInsensitive: true }],
        },
      },
    ],
  },
  {
    name: 'a page in the order of a number',
    fields: schemaFields,
    queries: [{ sort: [{ field: 'size', order: 'desc' }] }],
  },
  { name: 'accents folded', fields: schemaFields, texts: rules({ foldAccents: true }), queries: [] },
  { name: 'a language', fields: schemaFields, texts: rules({ language: 'en' }), queries: [] },
  { name: 'synonyms', fields: schemaFields, texts: synonyms, queries: [] },
  { name: 'a place', fields: new Map([...schemaFields, ['place', 'geoPoint']]), queries: [] },
];

/** @param items with places */
export function partCosts(items: readonly Item[]): Table {
  const three = costOf({ fields: threeFields, queries: [] }, items);
  const plain = costOf({ fields: schemaFields, queries: [] }, items);
  const rows = parts.map(({ name, ...part }) => {
    const { queries } = part;
    const { filled, queried } = costOf(part, items);
    const own = queries.length > 0 ? queried : minus(filled, plain.filled);
    return [name, ...shown(own, items.length)];
  });
  const count = items.length.toLocaleString('en-US');
  return {
    title: `What each part costs an item besides (${count} cities, a shard in this process)`,
    columns: ['', 'bytes an item', 'µs an item to make it'],
    rows: [
      ['words, keywords and a number', ...shown(plain.filled, items.length)],
      ...rows,
      ['three fields alone: words, a keyword and a number', ...shown(three.filled, items.length)],
    ],
  };
}

function shown({ bytes, ms }: Cost, count: number): string[] {
  return [figure(Math.round(bytes / count)), figure((ms * 1000) / count)];
}

interface Cost {
  readonly bytes: number;
  readonly ms: number;
}

/** The difference of two costs. Anything below zero is noise. */
function minus(cost: Cost, other: Cost): Cost {
  return { bytes: Math.max(0, cost.bytes - other.bytes), ms: Math.max(0, cost.ms - other.ms) };
}

/** The costs of filling a shard, and of its first query, minus those of a repeated query. */
function costOf(
  { fields, queries, texts = { rules: new Map(), synonyms: [] } }: Omit<Part, 'name'>,
  items: readonly Item[],
): { readonly filled: Cost; readonly queried: Cost } {
  const shard = new Shard({ fields, texts });
  const filled = measure(() => {
    for (const { id, name, text, category, size, place } of items) {
      const placed = fields.has('place') && place !== undefined ? { place: { ...place } } : {};
      const named = fields.has('name') ? { name } : {};
      const values = { ...named, text, category, size, ...placed };
      shard.upsert({ partition: 0, sourceId: 'source', originId: id, updatedAtMs: 0, fields: values });
    }
  });
  // The first search also allocates memory that all shards share.
  runQuery(shard, fields, { search: { field: 'text', value: 'abc', literal: true } });
  const runAll = () => {
    for (const query of queries) runQuery(shard, fields, query);
  };
  const first = measure(runAll);
  return { filled, queried: minus(first, measure(runAll)) };
}

function measure(act: () => void): Cost {
  const before = heapBytes();
  const startedMs = performance.now();
  act();
  const ms = performance.now() - startedMs;
  return { bytes: heapBytes() - before, ms };
}

function runQuery(shard: Shard, fields: ReadonlyMap<string, FieldType>, query: BenchQuery): void {
  const terms = { fields, isOpen: false, isSchemaAlias: null };
  const checked = checkQuery(JSON.parse(JSON.stringify(query)), terms);
  if (!checked.ok) throw new Error(checked.errors.join(', '));
  shard.query(checked.query);
}
