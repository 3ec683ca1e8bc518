/**
 * Typical hand-written lists of cities: node:http and SQL. `sql-lists.ts PORT ENGINE FILE`; ENGINE is sqlite or postgres, FILE
 * contains the entities as JSON. A request is `{from, to, size, levels}`: cities with a population between the two, the largest
 * first.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { Entity } from '../support/data/sets.ts';
import { postgresLists } from '../support/lists/postgres-lists.ts';
import { viewOf } from '../support/lists/sql.ts';
import { sqliteLists } from '../support/lists/sqlite-lists.ts';
import { host } from '../support/ports.ts';

const [port = '', engine = '', file = ''] = process.argv.slice(2);
const entities: readonly Entity[] = JSON.parse(readFileSync(file, 'utf8'));
const lists = engine === 'sqlite' ? sqliteLists(entities) : await postgresLists(entities);

http
  .createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', async () => {
      const { total, rows } = await lists.answer(JSON.parse(body));
      const bytes = Buffer.from(JSON.stringify({ totalResults: total, results: rows.map(viewOf) }));
      response
        .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
        .end(bytes);
    });
  })
  .listen(Number(port), host);
