/** Engines that rank the documents of a collection, each as its documentation recommends for English texts. */
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import type { IndexTexts } from '../../../src/schemas/definition/index-texts.ts';
import { wordsOf } from '../../../src/search/analysis/words.ts';
import { checkQuery } from '../../../src/search/check/query.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import type { BenchContext } from '../bench.ts';
import { connectPostgres, startPostgres } from '../contenders/postgres.ts';
import { installPeers, installSqlite, requirePeer } from '../peers.ts';
import { type Collection, type RankedDoc, rankedMax } from './relevance-data.ts';

/** Ids of documents for a query, the best first. */
type Rank = (text: string) => readonly string[] | Promise<readonly string[]>;

export interface RankingEngine {
  readonly name: string;
  readonly isOurs: boolean;
  /** Indexes the documents. */
  load(collection: Collection): Promise<Rank>;
}

/** The engines that are available; others are skipped, with a line. */
export async function rankingEngines(context: BenchContext): Promise<RankingEngine[]> {
  installPeers();
  const sqlite = installSqlite(context.say);
  const postgres = (await startPostgres(context)) !== null;
  return [
    {
      name: 'Millrace, English, title ×2 and body',
      isOurs: true,
      load: async ({ docs }) => ours(docs, english),
    },
    { name: 'Millrace, the simplest request', isOurs: true, load: async ({ docs }) => ours(docs, simplest) },
    { name: 'MiniSearch, title ×2, fuzzy 0.2', isOurs: false, load: async ({ docs }) => miniSearch(docs) },
    { name: 'Orama, English, title ×2, tolerance 1', isOurs: false, load: ({ docs }) => orama(docs) },
    ...(sqlite
      ? [{ name: 'SQLite FTS5, porter', isOurs: false, load: async ({ docs }: Collection) => fts5(docs) }]
      : []),
    ...(postgres
      ? [
          {
            name: 'PostgreSQL, english, ts_rank',
            isOurs: false,
            load: ({ docs }: Collection) => tsRank(docs, context),
          },
        ]
      : []),
  ];
}

const fields: ReadonlyMap<string, FieldType> = new Map([
  ['title', 'text'],
  ['body', 'text'],
  ['all', 'text'],
]);
const rule = { language: 'en', foldAccents: false } as const;

interface OurSearch {
  readonly texts: IndexTexts;
  readonly search: Readonly<Record<string, string | { field: string; weight: number }[]>>;
}

const simplest: OurSearch = { texts: { rules: new Map(), synonyms: [] }, search: { field: 'all' } };
const english: OurSearch = {
  texts: { rules: new Map([...fields.keys()].map((name) => [name, rule])), synonyms: [] },
  search: {
    fields: [
      { field: 'title', weight: 2 },
      { field: 'body', weight: 1 },
    ],
  },
};

function ours(docs: readonly RankedDoc[], { texts, search }: OurSearch): Rank {
  const shard = new Shard({ fields, texts });
  for (const { id, title, body } of docs) {
    const item = { partition: 0, sourceId: 's', originId: id, updatedAtMs: 0 };
    shard.upsert({ ...item, fields: { title, body, all: `${title} ${body}` } });
  }
  return (value) => {
    const body = { search: { ...search, value }, pagination: { pageSize: rankedMax } };
    const checked = checkQuery(body, { fields, isOpen: false, isSchemaAlias: null });
    if (!checked.ok) throw new Error(checked.errors.join('\n'));
    return runSync(shard.answer(checked.query, 0)).rows.map(({ place }) => place.originId);
  };
}

interface MiniSearchModule {
  new (
    options: object,
  ): {
    addAll(docs: readonly object[]): void;
    search(text: string): readonly { readonly id: string }[];
  };
}

function miniSearch(docs: readonly RankedDoc[]): Rank {
  const MiniSearch: MiniSearchModule = requirePeer('minisearch');
  const searchOptions = { boost: { title: 2 }, fuzzy: 0.2 };
  const index = new MiniSearch({ fields: ['title', 'body'], tokenize: wordsOf, searchOptions });
  index.addAll(docs);
  return (text) =>
    index
      .search(text)
      .slice(0, rankedMax)
      .map(({ id }) => id);
}

interface OramaModule {
  create(options: object): unknown;
  insertMultiple(index: unknown, docs: readonly object[]): Promise<unknown>;
  search(index: unknown, query: object): Promise<{ readonly hits: readonly { readonly id: string }[] }>;
}

async function orama(docs: readonly RankedDoc[]): Promise<Rank> {
  const { create, insertMultiple, search }: OramaModule = requirePeer('@orama/orama');
  const index = create({ schema: { title: 'string', body: 'string' }, language: 'english' });
  await insertMultiple(index, docs);
  return async (term) => {
    const query = { term, boost: { title: 2 }, tolerance: 1, threshold: 1, limit: rankedMax };
    return (await search(index, query)).hits.map(({ id }) => id);
  };
}

interface SqliteModule {
  new (
    file: string,
  ): {
    exec(sql: string): void;
    prepare(sql: string): {
      run(...values: readonly unknown[]): unknown;
      all(...values: readonly unknown[]): readonly { readonly id: string }[];
    };
  };
}

function fts5(docs: readonly RankedDoc[]): Rank {
  const Database: SqliteModule = requirePeer('better-sqlite3');
  const database = new Database(':memory:');
  database.exec(
    `create virtual table docs using fts5(id unindexed, title, body, tokenize = 'porter unicode61')`,
  );
  const insert = database.prepare('insert into docs values (?, ?, ?)');
  for (const { id, title, body } of docs) insert.run(id, title, body);
  const select = database.prepare(
    'select id from docs where docs match ? order by bm25(docs, 0, 2, 1), rowid limit ?',
  );
  return (text) => {
    const words = wordsOf(text).map((word) => `"${word}"`);
    return words.length === 0 ? [] : select.all(words.join(' OR '), rankedMax).map(({ id }) => id);
  };
}

async function tsRank(docs: readonly RankedDoc[], context: BenchContext): Promise<Rank> {
  const connection = await connectPostgres();
  context.onEnd(() => connection.end());
  await connection.query({ text: 'drop table if exists ranked' });
  await connection.query({ text: 'create table ranked (id text, words tsvector)' });
  const insert = `insert into ranked values ($1, setweight(to_tsvector('english', $2), 'A') || to_tsvector('english', $3))`;
  for (const { id, title, body } of docs)
    await connection.query({ name: 'rank', text: insert, values: [id, title, body] });
  const text = `select id from ranked, to_tsquery('english', $1) asked where words @@ asked
    order by ts_rank('{0.1, 0.2, 0.5, 1}', words, asked, 1) desc, id limit ${rankedMax}`;
  return async (value) => {
    const words = wordsOf(value);
    if (words.length === 0) return [];
    const { rows } = await connection.query({ text, values: [words.join(' | ')] });
    return rows.map(({ id }) => String(id));
  };
}
