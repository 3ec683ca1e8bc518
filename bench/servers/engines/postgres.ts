/** PostgreSQL: a tsvector of our words under a GIN index, and a vocabulary table for words with typos. */
import { allowedDistance, wordsOf } from '../../../src/search/text/words.ts';
import { connectPostgres, type SqlConnection } from '../../support/contenders/postgres.ts';
import type { Item } from '../../support/data/items.ts';
import { type BenchQuery, pageSizeOf } from '../../support/query/kinds.ts';
import { topGroups } from '../../support/query/plain-scan.ts';
import { type Engine, type EngineAnswer, rowText } from './engine.ts';

const connectionCount = 2;
const itemsPerInsert = 500;

const schema = [
  'create extension if not exists fuzzystrmatch',
  'drop table if exists items, vocabulary',
  'create table items (id text primary key, category text, size bigint, words tsvector, row text)',
  'create table vocabulary (word text primary key, length int)',
];
const indexes = [
  'create index on items using gin (words)',
  'create index on items (category)',
  'create index on items (size)',
  `insert into vocabulary select word, char_length(word) from ts_stat('select words from items') where octet_length(word) < 256`,
  'create index on vocabulary (length)',
  'vacuum analyze items',
  'vacuum analyze vocabulary',
];

/** The hits of a tsquery `asked.query`, their number, and the best of them, up to a page (`asked.size`). */
const best = `hits as materialized (select id, category, row, ts_rank(words, asked.query) as rank from items, asked where words @@ asked.query)`;
const page = `select (select count(*) from hits)::int as total, array(select row from hits order by rank desc, id limit (select size from asked)) as rows`;
const literal = `with asked as (select quote_literal($1)::tsquery as query, $2::int as size), ${best} ${page}`;
const literalFacet = `${literal}, (select json_object_agg(category, count) from (select category, count(*) from hits group by category) as groups) as facet`;
const fuzzy = `with asked as (select string_agg(distinct quote_literal(word), ' | ')::tsquery as query, $3::int as size
  from unnest($1::text[], $2::int[]) as typed (text, allowed) join vocabulary
  on length between char_length(text) - allowed and char_length(text) + allowed
  and levenshtein_less_equal(word, text, allowed) <= allowed), ${best} ${page}`;
const filterAndSort = `with hits as materialized (select id, size, row from items where category = $1 and size > $2)
  select (select count(*) from hits)::int as total, array(select row from hits order by size desc, id limit $3::int) as rows`;

export class PostgresEngine implements Engine {
  private connections: readonly SqlConnection[] = [];
  private next = 0;

  async load(items: readonly Item[]): Promise<void> {
    this.connections = await Promise.all(Array.from({ length: connectionCount }, connectPostgres));
    for (const text of schema) await this.query({ text });
    for (let at = 0; at < items.length; at += itemsPerInsert) {
      const rows = items.slice(at, at + itemsPerInsert).map((item) => ({
        id: item.id,
        category: item.category,
        size: item.size,
        words: wordsOf(item.text),
        row: rowText(item),
      }));
      await this.query({
        name: 'insert',
        text: `insert into items select id, category, size, array_to_tsvector(array(select jsonb_array_elements_text(words))), row
          from jsonb_to_recordset($1::jsonb) as given (id text, category text, size bigint, words jsonb, row text)`,
        values: [JSON.stringify(rows)],
      });
    }
    for (const text of indexes) await this.query({ text });
  }

  async answer(query: BenchQuery): Promise<EngineAnswer> {
    const { search, filters, facets } = query;
    const pageSize = pageSizeOf(query);
    if (filters !== undefined) {
      const [category, size] = filters.and;
      return this.ask('filter', filterAndSort, [category.value, size.value, pageSize]);
    }
    const value = search?.value ?? '';
    if (search?.literal === false) {
      const words = wordsOf(value);
      return this.ask('fuzzy', fuzzy, [words, words.map(allowedDistance), pageSize]);
    }
    return facets === undefined
      ? this.ask('literal', literal, [value, pageSize])
      : this.ask('facet', literalFacet, [value, pageSize]);
  }

  private async ask(name: string, text: string, values: readonly unknown[]): Promise<EngineAnswer> {
    const { rows } = await this.query({ name, text, values });
    const [answer] = rows as readonly { total: number; rows: string[]; facet?: Record<string, number> }[];
    return {
      total: answer?.total ?? 0,
      rows: answer?.rows ?? [],
      facet: answer?.facet === undefined ? null : topGroups(new Map(Object.entries(answer.facet))),
    };
  }

  private query(query: Parameters<SqlConnection['query']>[0]) {
    this.next = (this.next + 1) % this.connections.length;
    const connection = this.connections[this.next];
    if (connection === undefined) throw new TypeError('no connection');
    return connection.query(query);
  }
}
