/** The limit of our front: uWebSockets.js sends prepared bytes, and nothing else. `raw-uws.ts PORT FOLDER` */
import uws from 'uWebSockets.js';
import { readStaticFiles } from '../support/contenders/static-files.ts';
import { host } from '../support/ports.ts';

const [port = '', folder = ''] = process.argv.slice(2);
const pages = readStaticFiles(folder);

uws
  .App()
  .get('/*', (response, request) => {
    const bytes = pages.get(request.getUrl());
    if (bytes === undefined) {
      response.writeStatus('404 Not Found').end();
      return;
    }
    response.writeHeader('Content-Type', 'application/json').end(bytes);
  })
  .listen(host, Number(port), (socket) => {
    if (!socket) process.exit(1);
  });
