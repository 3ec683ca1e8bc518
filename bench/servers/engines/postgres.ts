/**
 * PostgreSQL: a tsvector of our words with a GIN index, a vocabulary table for typos, `pg_trgm` for substrings of names, and
 * `earthdistance` for geo search.
 */
import { allowedDistance, wordsOf } from '../../../src/search/analysis/words.ts';
import { connectPostgres, type SqlConnection } from '../../support/contenders/postgres.ts';
import type { Item } from '../../support/data/items.ts';
import { type BenchQuery, filterOf, pageSizeOf } from '../../support/query/kinds.ts';
import { topGroups } from '../../support/query/plain-scan.ts';
import { type Engine, type EngineAnswer, rowText } from './engine.ts';

const connectionCount = 2;
const itemsPerInsert = 500;

const schema = [
  'create extension if not exists fuzzystrmatch',
  'create extension if not exists pg_trgm',
  'create extension if not exists cube',
  'create extension if not exists earthdistance',
  // Uses our Earth radius, as its documentation allows.
  `create or replace function earth() returns float8 language sql immutable parallel safe as 'select 6371008.8::float8'`,
  'drop table if exists items, vocabulary',
  'create table items (id text primary key, name text, text text, category text, size bigint, lat float8, lon float8, words tsvector, row text)',
  'create table vocabulary (word text primary key, length int)',
];
const indexes = [
  'create index on items using gin (words)',
  'create index on items (category)',
  'create index on items (size)',
  'create index on items using gin (name gin_trgm_ops)',
  'create index on items using gist (ll_to_earth(lat, lon)) where lat is not null',
  `insert into vocabulary select word, char_length(word) from ts_stat('select words from items') where octet_length(word) < 256`,
  'create index on vocabulary (length)',
  'vacuum analyze items',
  'vacuum analyze vocabulary',
];

/** The hits of the tsquery `asked.query`, their number, and the first page of `asked.size` hits by rank. */
const best = `hits as materialized (select id, category, row, ts_rank(words, asked.query) as rank from items, asked where words @@ asked.query)`;
const page = `select (select count(*) from hits)::int as total, array(select row from hits order by rank desc, id limit (select size from asked)) as rows`;
const literal = `with asked as (select quote_literal($1)::tsquery as query, $2::int as size), ${best} ${page}`;
const prefixed = literal.replace('quote_literal($1)::tsquery', `(quote_literal($1) || ':*')::tsquery`);
const literalFacet = `${literal}, (select json_object_agg(category, count) from (select category, count(*) from hits group by category) as groups) as facet`;
const fuzzy = `with asked as (select string_agg(distinct quote_literal(word), ' | ')::tsquery as query, $3::int as size
  from unnest($1::text[], $2::int[]) as typed (text, allowed) join vocabulary
  on length between char_length(text) - allowed and char_length(text) + allowed
  and levenshtein_less_equal(word, text, allowed) <= allowed), ${best} ${page}`;
const filterAndSort = `with hits as materialized (select id, size, row from items where category = $1 and size > $2)
  select (select count(*) from hits)::int as total, array(select row from hits order by size desc, id limit $3::int) as rows`;

const highlighted = `with asked as (select $1::tsquery as query, $2::int as size), ${best},
  top as (select id, rank, row, ts_headline('simple', text, asked.query, 'HighlightAll=true, StartSel=<em>, StopSel=</em>') as marked
    from (select * from hits order by rank desc, id limit $2::int) as first join items using (id, category, row), asked)
  select (select count(*) from hits)::int as total, array(select row from top order by rank desc, id) as rows,
    array(select marked from top order by rank desc, id) as marked`;
const partOfName = `with hits as materialized (select id, name, row from items where name ilike $1)
  select (select count(*) from hits)::int as total, array(select row from hits order by name, id limit $2::int) as rows`;
const nearPlace = `with hits as materialized (select id, row, earth_distance(ll_to_earth(lat, lon), ll_to_earth($1::float8, $2::float8)) as far
    from items where lat is not null and earth_box(ll_to_earth($1::float8, $2::float8), $3::float8) @> ll_to_earth(lat, lon)),
  near as materialized (select * from hits where far <= $3::float8)
  select (select count(*) from near)::int as total, array(select row from near order by far, id limit $4::int) as rows`;

type SqlAnswer = {
  readonly total: number;
  readonly rows: readonly string[];
  readonly facet?: Readonly<Record<string, number>>;
  /** One for each row. */
  readonly marked?: readonly string[];
};

export class PostgresEngine implements Engine {
  private connections: readonly SqlConnection[] = [];
  private next = 0;

  async load(items: readonly Item[]): Promise<void> {
    this.connections = await Promise.all(Array.from({ length: connectionCount }, connectPostgres));
    for (const text of schema) await this.query({ text });
    for (let at = 0; at < items.length; at += itemsPerInsert) {
      const rows = items.slice(at, at + itemsPerInsert).map((item) => ({
        id: item.id,
        name: item.name,
        text: item.text,
        lat: item.place?.lat ?? null,
        lon: item.place?.lon ?? null,
        category: item.category,
        size: item.size,
        words: wordsOf(item.text),
        row: rowText(item),
      }));
      await this.query({
        name: 'insert',
        text: `insert into items select id, name, text, category, size, lat, lon, array_to_tsvector(array(select jsonb_array_elements_text(words))), row
          from jsonb_to_recordset($1::jsonb) as given (id text, name text, text text, category text, size bigint, lat float8, lon float8, words jsonb, row text)`,
        values: [JSON.stringify(rows)],
      });
    }
    for (const text of indexes) await this.query({ text });
  }

  async answer(query: BenchQuery): Promise<EngineAnswer> {
    const { search, facets, highlight } = query;
    const { above, part, circle } = filterOf(query);
    const pageSize = pageSizeOf(query);
    if (above !== null) return this.ask('filter', filterAndSort, [above.category, above.size, pageSize]);
    if (part !== null) return this.ask('part', partOfName, [`%${part}%`, pageSize]);
    if (circle !== null) {
      return this.ask('near', nearPlace, [circle.lat, circle.lon, circle.meters, pageSize]);
    }
    const value = search?.value ?? '';
    if (highlight !== undefined) return this.ask('highlight', highlighted, [value, pageSize]);
    if (search?.prefix === true) return this.ask('prefix', prefixed, [value, pageSize]);
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
    const [answer] = rows as readonly SqlAnswer[];
    const marked = answer?.marked;
    const plain = answer?.rows ?? [];
    return {
      total: answer?.total ?? 0,
      rows: marked === undefined ? plain : plain.map((row, at) => withHighlight(row, marked[at] ?? '')),
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

function withHighlight(row: string, text: string): string {
  return `${row.slice(0, -1)},"_highlights":${JSON.stringify({ text })}}`;
}
