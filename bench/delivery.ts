/** `npm run bench -- delivery`: warm delivery, compared with servers that send the same bytes with minimal work. */

import { startNginx } from './support/contenders/nginx.ts';
import { writeResponseHeaders } from './support/contenders/response-headers.ts';
import { startNodeServer } from './support/contenders/server-process.ts';
import {
  deliveryLoad,
  measureLoad,
  pageUrls,
  requireSamePages,
  startPages,
  writePages,
} from './support/delivery/load.ts';
import { deliveryPath } from './support/load/client.ts';
import { requireWrk } from './support/load/wrk.ts';
import { ports } from './support/ports.ts';
import { ratioTarget, spreadsOf, throughputTable } from './support/report/throughput.ts';
import { loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';
import { pinnedTo, pinSelfTo } from './support/tools.ts';

const names = {
  ours: 'Millrace',
  nginx: 'nginx, static files',
  uws: 'uWebSockets.js, prepared bytes',
  heads: 'uWebSockets.js, prepared bytes and heads',
  node: 'node:http, prepared bytes',
};

await runBench({
  name: 'delivery',
  question:
    'How fast is a delivered page, compared with a static file? GET by URL of 1,000 pages of 1.5 kB with 3 resolved references, 32 connections, one serving process, caches warm.',
  caveats: [
    'For us: nginx reads files (open_file_cache is on), and we read memory. nginx could add worker processes, and we could add fronts.',
    'Against us: only Millrace checks an API key, matches a URL by host and path, sends an ETag, and invalidates its cache.',
    '“Prepared bytes and heads” reads the same requests as Millrace (key, query) and sends the same heads (ETag, Vary). The difference from us is the cost of our decisions. The other contenders read and send short heads.',
    'The serving process has core 0. wrk, Redis and the worker share core 1. This is the same for every contender.',
  ],
  async run(context) {
    const wrk = requireWrk(context);
    pinSelfTo(1);
    const prefix = pinnedTo(0);
    const { client } = await startPages(context, { frontPrefix: prefix });
    const { folder, requestFile, staticFile } = await writePages(context, client, pageUrls(context));
    await startNodeServer(context, 'raw-uws', { port: ports.rawUws, words: [folder], prefix });
    const headsFile = await writeResponseHeaders(context, pageUrls(context));
    await startNodeServer(context, 'raw-uws-heads', {
      port: ports.rawUwsHeads,
      words: [folder, headsFile],
      prefix,
    });
    await startNodeServer(context, 'node-http', { port: ports.nodeHttp, words: [folder], prefix });
    const hasNginx = await startNginx(context, { port: ports.nginx, root: folder, prefix });
    const contenders = [
      { name: names.ours, port: ports.millrace, requestFile },
      ...(hasNginx ? [{ name: names.nginx, port: ports.nginx, requestFile: staticFile }] : []),
      { name: names.uws, port: ports.rawUws, requestFile: staticFile },
      { name: names.heads, port: ports.rawUwsHeads, requestFile, pathOf: deliveryPath },
      { name: names.node, port: ports.nodeHttp, requestFile: staticFile },
    ];
    await requireSamePages(client, pageUrls(context), contenders);
    const results = await loadsInRounds(
      context,
      contenders.map((contender) => ({
        name: contender.name,
        measure: () => measureLoad(wrk, { ...contender, ...deliveryLoad(context) }),
      })),
    );
    const bars = spreadsOf(results, names.ours, ({ requestsPerSecond }) => requestsPerSecond);
    return {
      tables: [throughputTable('Delivery, warm', results, names.ours)],
      charts: [
        {
          kind: 'bars',
          file: 'delivery.svg',
          title: 'Delivery, warm: 1.5 kB with 3 references',
          unit: 'requests/s',
          bars,
        },
      ],
      notes: [
        'Where the time goes (a profile of the front): more than half is the kernel, and a fifth is Node and uWebSockets.js around our code. Of our quarter, two fifths write the response, and a third of that is the array in which the library returns how much the connection took. Three tenths look up the response, mostly waiting for memory, because a response, its headers and its body are somewhere among a thousand others. The rest reads seven request headers and the query string, looks up the key, and reads the clock twice. Small reads of Redis, which let rebuilds yield to readers, take a hundredth.',
      ],
      targets: [
        ratioTarget('at least as fast as nginx', results, [names.ours, names.nginx], 1),
        ratioTarget('0.85 of raw uWebSockets.js', results, [names.ours, names.uws], 0.85),
      ].filter((target) => target !== null),
    };
  },
});
