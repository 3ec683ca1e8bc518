/**
 * Stores the entities of `cities` in PostgreSQL as jsonb, with indexes on id, URL, redirect, words, and the fields by which
 * our index filters and sorts.
 */
import type { Entity } from '../data/sets.ts';
import type { SqlConnection } from './postgres.ts';

const rowsPerInsert = 50;
const columns = ['origin_id', 'type', 'url', 'origin_parent_id', 'redirects', 'properties'];
const jsonText = (name: string) => `(properties->>'${name}')`;

/** The table, with indexes on everything that our index searches, filters and sorts by. */
export const entitiesTable = [
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
  'create index on entities using gin (words)',
  ...['country', 'regionId', 'featureCode', 'timezone', 'updatedAt'].map(
    (name) => `create index on entities (${jsonText(name)}) where type = 'city'`,
  ),
  ...['population', 'altitude', 'lat', 'lon'].map(
    (name) => `create index on entities ((${jsonText(name)}::double precision)) where type = 'city'`,
  ),
];

/** Updates an existing entity only if it differs, as our ingest does. */
export const updateWhereChanged = `on conflict (origin_id) do update set (${columns.slice(1).join(', ')}) = (${columns
  .slice(1)
  .map((name) => `excluded.${name}`)
  .join(', ')})
  where (entities.type, entities.url, entities.origin_parent_id, entities.redirects, entities.properties)
    is distinct from (excluded.type, excluded.url, excluded.origin_parent_id, excluded.redirects, excluded.properties)`;

const upsert = (rows: number) => `insert into entities (${columns.join(', ')})
  values ${Array.from({ length: rows }, (_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`).join(', ')}
  ${updateWhereChanged}`;

/** A way to store the entities in PostgreSQL. */
export interface EntityStorage {
  create(connection: SqlConnection): Promise<void>;
  /** Saves entities with one statement, in one transaction. */
  save(connection: SqlConnection, entities: readonly Entity[]): Promise<void>;
}

/** Stores rows and derives nothing from them. */
export const plainRows: EntityStorage = {
  create: (connection) =>
    inOrder(connection, [
      ...entitiesTable,
      'create index on entities (url)',
      'create index on entities using gin (redirects)',
      'checkpoint',
    ]),
  async save(connection, entities) {
    await connection.query({
      name: `upsert-${entities.length}`,
      text: upsert(entities.length),
      values: entities.flatMap((entity) => [
        entity.originId,
        entity.type,
        entity.url,
        entity.originParentId,
        entity.redirects,
        JSON.stringify(entity.properties),
      ]),
    });
  },
};

export async function inOrder(connection: SqlConnection, statements: readonly string[]): Promise<void> {
  for (const text of statements) await connection.query({ text });
}

/** Reads NDJSON lines and saves them over all connections in parallel, in batches of 50. */
export async function loadEntities(
  connections: readonly SqlConnection[],
  storage: EntityStorage,
  lines: AsyncIterator<string>,
): Promise<void> {
  await Promise.all(
    connections.map(async (connection) => {
      for (;;) {
        const entities: Entity[] = [];
        while (entities.length < rowsPerInsert) {
          const { value, done } = await lines.next();
          if (done === true) break;
          entities.push(JSON.parse(value));
        }
        if (entities.length === 0) return;
        await storage.save(connection, entities);
      }
    }),
  );
}
