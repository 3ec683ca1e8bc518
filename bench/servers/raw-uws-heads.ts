/**
 * A front that decides nothing: uWebSockets.js takes the same requests as Millrace, and sends the same responses, headers
 * included. `raw-uws-heads.ts PORT FOLDER HEADS`
 */

import uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import type { ResponseHeaders } from '../support/contenders/response-headers.ts';
import { readStaticFiles } from '../support/contenders/static-files.ts';
import { deliveryPath } from '../support/load/client.ts';
import { host } from '../support/ports.ts';

const [port = '', folder = '', headersFile = ''] = process.argv.slice(2);
const headers: ResponseHeaders = JSON.parse(readFileSync(headersFile, 'utf8'));
const pages = new Map(
  [...readStaticFiles(folder)].map(([url, bytes]) => {
    const [[name, value] = ['', ''], ...others] = headers[url] ?? [];
    // All headers are one string, as our front passes them.
    const text = [value, ...others.map((header) => header.join(': '))].join('\r\n');
    return [deliveryPath(url), { name, text, bytes }];
  }),
);

uws
  .App()
  .get('/*', (response, request) => {
    const page = pages.get(`${request.getUrl()}?${request.getQuery()}`);
    if (page === undefined) {
      response.writeStatus('404 Not Found').end();
      return;
    }
    response.writeHeader(page.name, page.text).end(page.bytes);
  })
  .listen(host, Number(port), (socket) => {
    if (!socket) process.exit(1);
  });
