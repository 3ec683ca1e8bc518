/**
 * Lists of cities as anybody would write them by hand: node:http and SQLite. `sqlite-lists.ts PORT FILE`; FILE holds the
 * entities as JSON. A request is `{from, to, size}`: cities with a population between the two, the largest first.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { Entity } from '../support/data/sets.ts';
import { requirePeer } from '../support/peers.ts';
import { host } from '../support/ports.ts';

interface Statement {
  run(...values: unknown[]): void;
  all(...values: unknown[]): Row[];
  get(...values: unknown[]): { readonly total: number };
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  transaction(act: () => void): () => void;
}

interface Row {
  readonly properties: string;
  readonly url: string;
  readonly country: string | null;
  readonly countryUrl: string | null;
  readonly region: string | null;
  readonly regionUrl: string | null;
}

const [port = '', file = ''] = process.argv.slice(2);
const entities: readonly Entity[] = JSON.parse(readFileSync(file, 'utf8'));
const Sqlite: new (file: string) => Database = requirePeer('better-sqlite3');
const db = new Sqlite(':memory:');
db.exec(`
  create table place (id text primary key, name text, url text);
  create table city (id text primary key, population integer, url text, country text, region text, properties text);
`);
const addPlace = db.prepare('insert into place values (?, ?, ?)');
const addCity = db.prepare('insert into city values (?, ?, ?, ?, ?, ?)');
db.transaction(() => {
  for (const { originId, type, url, properties: p } of entities) {
    if (type !== 'city') addPlace.run(originId, p.name, url);
    else addCity.run(originId, p.population, url, p.countryId, p.regionId, JSON.stringify(p));
  }
})();
db.exec('create index by_population on city (population desc, id)');

const matching = 'from city where population between ? and ?';
const count = db.prepare(`select count(*) as total ${matching}`);
const list = db.prepare(`
  select city.properties, city.url, country.name as country, country.url as countryUrl, region.name as region, region.url as regionUrl
  from (select * ${matching} order by population desc, id limit ?) as city
  left join place as country on country.id = city.country
  left join place as region on region.id = city.region
  order by city.population desc, city.id`);

http
  .createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      const { from, to, size }: { from: number; to: number; size: number } = JSON.parse(body);
      const { total } = count.get(from, to);
      const results = list.all(from, to, size).map(viewOf);
      const bytes = Buffer.from(JSON.stringify({ totalResults: total, results }));
      response
        .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
        .end(bytes);
    });
  })
  .listen(Number(port), host);

function viewOf({ properties, url, country, countryUrl, region, regionUrl }: Row): object {
  const { name, alternateNames, population, altitude, lat, lon, timezone } = JSON.parse(properties);
  return {
    ...{ name, url, names: alternateNames ?? [], population, altitude: altitude ?? null, lat, lon, timezone },
    country: country === null ? null : { name: country, url: countryUrl },
    region: region === null ? null : { name: region, url: regionUrl },
  };
}
