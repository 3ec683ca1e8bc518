/** A typical hand-written server: node:http answers from a prebuilt Map. `node-http.ts PORT FOLDER` */
import http from 'node:http';
import { readStaticFiles } from '../support/contenders/static-files.ts';
import { host } from '../support/ports.ts';

const [port = '', folder = ''] = process.argv.slice(2);
const pages = readStaticFiles(folder);

http
  .createServer((request, response) => {
    const bytes = pages.get(request.url ?? '');
    if (bytes === undefined) {
      response.writeHead(404).end();
      return;
    }
    response
      .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
      .end(bytes);
  })
  .listen(Number(port), host);
