/**
 * The job of Millrace for `cities`, done in PostgreSQL: besides the rows of the entities it stores their views, the URLs and
 * redirects that lead to them, similar names (trigrams), and an outbox for consumers of the changes. A batch is one function
 * call, so one transaction and one round trip.
 */
import type { JsonObject } from '../../../src/contract/json.ts';
import type { Entity } from '../data/sets.ts';
import type { SqlConnection } from './postgres.ts';
import { type EntityStorage, entitiesTable, inOrder, updateWhereChanged } from './postgres-cities.ts';

const tables = [
  'create extension if not exists pg_trgm',
  'drop table if exists views, urls, redirects, outbox',
  ...entitiesTable,
  `create index on entities using gin ((properties->>'name') gin_trgm_ops) where type = 'city'`,
  // json instead of jsonb: a view is delivered unchanged and never queried.
  'create table views (origin_id text, alias text, body json not null, primary key (origin_id, alias))',
  'create table urls (url text primary key, origin_id text not null)',
  'create index on urls (origin_id)',
  'create table redirects (path text primary key, origin_id text not null)',
  'create index on redirects (origin_id)',
  `create table outbox (
    id bigint generated always as identity primary key,
    origin_id text not null,
    at timestamptz not null default now()
  )`,
];

/** Does the rest only for entities that differ. A URL that is taken stays with the entity that has it. */
const saveBatch = `create or replace function save_batch(
    ids text[], types text[], entity_urls text[], parents text[], entity_redirects text[], properties_of text[],
    view_ids text[], aliases text[], bodies json[]) returns void language plpgsql as $$
  declare
    changed text[];
    changed_again text[];
  begin
    with stored as (
      insert into entities (origin_id, type, url, origin_parent_id, redirects, properties)
      select id, type, url, parent, paths::text[], properties::jsonb
        from unnest(ids, types, entity_urls, parents, entity_redirects, properties_of)
          as entity (id, type, url, parent, paths, properties)
      ${updateWhereChanged}
      returning origin_id, xmax <> 0 as was_there
    )
    select array_agg(origin_id), array_agg(origin_id) filter (where was_there)
      into changed, changed_again from stored;
    if changed_again is not null then
      delete from urls where origin_id = any (changed_again);
      delete from redirects where origin_id = any (changed_again);
      delete from views where origin_id = any (changed_again);
    end if;
    insert into urls (url, origin_id)
      select url, id from unnest(entity_urls, ids) as entity (url, id)
        where id = any (changed) and url is not null
      on conflict do nothing;
    insert into redirects (path, origin_id)
      select path, id from unnest(entity_redirects, ids) as entity (paths, id), unnest(paths::text[]) as path
        where id = any (changed)
      on conflict do nothing;
    insert into views (origin_id, alias, body)
      select id, alias, body from unnest(view_ids, aliases, bodies) as made (id, alias, body)
        where id = any (changed);
    insert into outbox (origin_id) select unnest(changed);
  end $$`;

/** Rows, and everything that Millrace derives from them. */
export const wholeSite: EntityStorage = {
  create: (connection) => inOrder(connection, [...tables, saveBatch, 'checkpoint']),
  async save(connection, entities) {
    // Here instead of in SQL, which takes PostgreSQL more time than this takes the client.
    const views = entities.flatMap(viewsOf);
    await connection.query({
      name: 'save-batch',
      text: 'select save_batch($1, $2, $3, $4, $5, $6, $7, $8, $9)',
      values: [
        entities.map(({ originId }) => originId),
        entities.map(({ type }) => type),
        entities.map(({ url }) => url),
        entities.map(({ originParentId }) => originParentId),
        entities.map(({ redirects }) => `{${redirects.map((path) => JSON.stringify(path)).join(',')}}`),
        entities.map(({ properties }) => JSON.stringify(properties)),
        views.map(({ originId }) => originId),
        views.map(({ alias }) => alias),
        views.map(({ body }) => JSON.stringify(body)),
      ],
    });
  },
};

interface MadeView {
  readonly originId: string;
  readonly alias: string;
  readonly body: JsonObject;
}

/** The schemas of `citiesTenant`. A reference says where its card is. */
function viewsOf({ originId, type, url, properties }: Entity): MadeView[] {
  const { name = null } = properties;
  if (type === 'city') return [{ originId, alias: 'city', body: cityView(url, properties) }];
  return [
    { originId, alias: 'place', body: { ...properties, url } },
    { originId, alias: 'card', body: { name, url } },
  ];
}

function cityView(url: string | null, properties: JsonObject): JsonObject {
  const { name = null, alternateNames = [], population = null, altitude = null } = properties;
  const { lat = null, lon = null, timezone = null, countryId = null, regionId = null } = properties;
  return {
    name,
    url,
    names: alternateNames,
    population,
    altitude,
    lat,
    lon,
    timezone,
    country: { card: countryId },
    region: { card: regionId },
  };
}

/** A URL of the site and what it leads to, as JSON. */
export interface SiteUrl {
  readonly url: string;
  /** The URL that a redirect leads to; null for a page. */
  readonly redirect: unknown;
  /** The view of a page, with the cards that it refers to; null for a redirect. */
  readonly page: unknown;
}

/** All that a site delivers. */
export async function readSite(connection: SqlConnection): Promise<SiteUrl[]> {
  const { rows } = await connection.query({
    text: `select path as url, url as redirect, null::jsonb as page from redirects join urls using (origin_id)
      union all
      select urls.url, null, case when view.alias = 'city'
          then view.body::jsonb || jsonb_build_object('country', country.body, 'region', region.body)
          else view.body::jsonb end
        from urls
        join views view on view.origin_id = urls.origin_id and view.alias <> 'card'
        left join views country on country.alias = 'card' and country.origin_id = view.body->'country'->>'card'
        left join views region on region.alias = 'card' and region.origin_id = view.body->'region'->>'card'`,
  });
  return rows.map(({ url, redirect, page }) => ({ url: String(url), redirect, page }));
}
