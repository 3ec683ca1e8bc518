/**
 * A search engine behind uWebSockets.js, in one process. It takes our query objects and answers in our shape.
 * `search-front.ts PORT ENGINE FILE`; FILE holds the items as JSON.
 */

import uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import type { Item } from '../support/data/items.ts';
import { host } from '../support/ports.ts';
import type { BenchQuery } from '../support/query/kinds.ts';
import type { Engine, EngineAnswer } from './engines/engine.ts';
import { MiniSearchEngine } from './engines/minisearch.ts';
import { OramaEngine } from './engines/orama.ts';
import { PostgresEngine } from './engines/postgres.ts';

const engines: Readonly<Record<string, () => Engine>> = {
  minisearch: () => new MiniSearchEngine(),
  orama: () => new OramaEngine(),
  postgres: () => new PostgresEngine(),
};

const [port = '', name = '', file = ''] = process.argv.slice(2);
const engine = engines[name]?.();
if (engine === undefined) throw new Error(`no engine ${name}`);
const items: readonly Item[] = JSON.parse(readFileSync(file, 'utf8'));
await engine.load(items);

uws
  .App()
  .post('/query', (response) => {
    let isAborted = false;
    let body = '';
    response.onAborted(() => {
      isAborted = true;
    });
    response.onData((chunk, isLast) => {
      body += Buffer.from(chunk).toString();
      if (!isLast) return;
      const query: BenchQuery = JSON.parse(body);
      Promise.resolve(engine.answer(query)).then(
        (answer) => {
          if (!isAborted)
            response.cork(() => response.writeHeader('Content-Type', 'application/json').end(text(answer)));
        },
        (error: unknown) => {
          console.error(error);
          if (!isAborted) response.cork(() => response.writeStatus('500 Internal Server Error').end());
        },
      );
    });
  })
  .listen(host, Number(port), (socket) => {
    if (!socket) process.exit(1);
  });

function text({ total, rows, facet }: EngineAnswer): string {
  const facets = (facet === null ? [] : [facet]).map((groups) => ({
    name: 'category',
    field: 'category',
    groups: groups.map(([value, count]) => ({ value, count })),
    isValid: true,
  }));
  return `{"status":0,"totalResults":${total},"results":[${rows.join(',')}],"facets":${JSON.stringify(facets)},"nextPageToken":null}`;
}
