/**
 * The entities of `cities` in PostgreSQL: jsonb, with indexes on id, URL, redirect, words, and the fields that our
 * index filters and sorts by.
 */
import type { Entity } from '../data/sets.ts';
import type { SqlConnection } from './postgres.ts';

const rowsPerInsert = 50;
const columns = ['origin_id', 'type', 'url', 'origin_parent_id', 'redirects', 'properties'];
const jsonText = (name: string) => `(properties->>'${name}')`;

const schema = [
  'drop table if exists entities',
  `create table entities (
    origin_id text primary key,
    type text not null,
    url text,
    origin_parent_id text,
    redirects text[] not null,
    properties jsonb not null,
    updated_at timestamptz not null default now(),
    words tsvector generated always as (case when type = 'city' then
      to_tsvector('simple', coalesce(properties->>'name', '') || ' ' || coalesce(properties->>'alternateNames', '')) end) stored
  )`,
  'create index on entities (url)',
  'create index on entities using gin (redirects)',
  'create index on entities using gin (words)',
  ...['country', 'regionId', 'featureCode', 'timezone', 'updatedAt'].map(
    (name) => `create index on entities (${jsonText(name)}) where type = 'city'`,
  ),
  ...['population', 'altitude', 'lat', 'lon'].map(
    (name) => `create index on entities ((${jsonText(name)}::double precision)) where type = 'city'`,
  ),
];

/** An upsert, as our ingest is one. */
const upsert = (rows: number) => `insert into entities (${columns.join(', ')})
  values ${Array.from({ length: rows }, (_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`).join(', ')}
  on conflict (origin_id) do update set (${columns.slice(1).join(', ')}) = (${columns
    .slice(1)
    .map((name) => `excluded.${name}`)
    .join(', ')})
  where (entities.type, entities.url, entities.origin_parent_id, entities.redirects, entities.properties)
    is distinct from (excluded.type, excluded.url, excluded.origin_parent_id, excluded.redirects, excluded.properties)`;

export async function createEntitiesTable(connection: SqlConnection): Promise<void> {
  for (const text of schema) await connection.query({ text });
  await connection.query({ text: 'checkpoint' });
}

/** Reads NDJSON lines and inserts them over all connections at once. A statement has 50 rows and is a commit. */
export async function loadEntities(
  connections: readonly SqlConnection[],
  lines: AsyncIterator<string>,
): Promise<void> {
  await Promise.all(
    connections.map(async (connection) => {
      for (;;) {
        const rows: Entity[] = [];
        while (rows.length < rowsPerInsert) {
          const { value, done } = await lines.next();
          if (done === true) break;
          rows.push(JSON.parse(value));
        }
        if (rows.length === 0) return;
        await connection.query({
          name: `upsert-${rows.length}`,
          text: upsert(rows.length),
          values: rows.flatMap((row) => [
            row.originId,
            row.type,
            row.url,
            row.originParentId,
            row.redirects,
            JSON.stringify(row.properties),
          ]),
        });
      }
    }),
  );
}
