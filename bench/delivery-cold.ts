/** `npm run bench -- delivery-cold`: what a page costs when every request is computed from Redis. */

import { startNodeServer } from './support/contenders/server-process.ts';
import {
  deliveryLoad,
  measureLoad,
  pageUrls,
  requireSamePages,
  startPages,
  writePages,
} from './support/delivery/load.ts';
import { requireWrk } from './support/load/wrk.ts';
import { ports } from './support/ports.ts';
import { ratioTarget, spreadsOf, throughputTable } from './support/report/throughput.ts';
import { loadsInRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const names = { ours: 'Millrace, cache off', node: 'node:http, prepared bytes' };

await runBench({
  name: 'delivery-cold',
  question:
    'What does a page cost when no cache has it? The pages of `delivery` with DELIVERY_CACHE_MB=0: each request reads the claim, the page and its 3 references from Redis.',
  caveats: [
    'Against us: node:http only reads from a Map. Millrace reads five things from Redis for each page, and Redis needs processor time too.',
    'No process is pinned. Contenders share both cores with wrk.',
  ],
  async run(context) {
    const wrk = requireWrk(context);
    const { client } = await startPages(context, { env: { DELIVERY_CACHE_MB: '0' } });
    const { folder, requestFile, staticFile } = await writePages(context, client, pageUrls(context));
    await startNodeServer(context, 'node-http', { port: ports.nodeHttp, words: [folder] });
    const contenders = [
      { name: names.ours, port: ports.millrace, requestFile },
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
    const title = 'Delivery, cold';
    return {
      tables: [throughputTable(title, results, names.ours)],
      charts: [
        {
          kind: 'bars',
          file: 'delivery-cold.svg',
          title: `${title}: 1.5 kB with 3 references, cache off`,
          unit: 'requests/s',
          bars: spreadsOf(results, names.ours, ({ requestsPerSecond }) => requestsPerSecond),
        },
      ],
      notes: [
        'Where the time goes (a profile of the front): more than a quarter of its processor time writes responses to sockets, and a seventh writes commands to the socket of Redis; both are time in the kernel. A sixth decodes pages, joins their parts and computes their ETags. No other part takes a tenth. Redis and wrk share the other core.',
      ],
      targets: [ratioTarget('half of node:http', results, [names.ours, names.node], 0.5)].filter(
        (target) => target !== null,
      ),
    };
  },
});
