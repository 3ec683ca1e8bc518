import type { BenchContext, Target } from './support/bench.ts';
import { startNodeServer, stopServer } from './support/contenders/server-process.ts';
import { citiesTenant } from './support/data/cities-tenant.ts';
import { cityEntities } from './support/data/sets.ts';
import { sourceKeyOf } from './support/data/tenant.ts';
import { Followed } from './support/load/followed.ts';
import { type FollowerPlacement, loopback, placeFollowers } from './support/load/follower-placement.ts';
import { System } from './support/platform/system.ts';
import { ports } from './support/ports.ts';
import { spreadFigure, type Table } from './support/report/table.ts';
import { runBench } from './support/run.ts';

const elsewhere = 'elsewhere';
const here = 'on the loopback address';

await runBench({
  name: 'feed',
  question:
    'How many clients can follow the feed of one front? Followers by server-sent events, each with its own connection; then single entities are saved, and the time counts from the response to a save until a follower has its change.',
  caveats: [
    'Raw uWebSockets.js writes prepared bytes on request, and its time counts from the request: it computes no view, reads no log and gives no guarantees. It is the limit of the library and of the kernel, which needs one call for each follower.',
    'Followers are sockets of a Node process on the same machine. It would take a processor from the server if it read 10,000 sockets while the server still writes. So it reads one in twenty immediately, evenly spread, and these are timed; the others have their change in the buffers of the kernel by then, and must have it before the next change.',
    'Followers "elsewhere" are in a network namespace of their own, connected by a pair of virtual Ethernet devices. The server has the first processor. The kernel receives its messages on the other processors, as another machine would (receive packet steering), and the acknowledgements of the followers on the first. For each message the server interrupts another processor instead of notifying a network card. The processors of the followers are also those of Redis, the worker and the measuring process. Without root, all followers are on the loopback address.',
    'Memory is the growth of the resident memory of a server, including what Node has not released. Buffers of sockets in the kernel are not included.',
  ],
  async run(context) {
    const place = placeFollowers(context);
    const apart = place === loopback ? null : await follow(context, place);
    const together = await follow(context, loopback);
    const { delays, memory } = (apart ?? together).front;
    const kilobytes = memory.bytesEach / 1000;
    const targets: Target[] = [
      { text: 'kB of the front for each (≤ 20)', figure: kilobytes.toFixed(1), isReached: kilobytes <= 20 },
      {
        text: `ms until 99 % have a change, followers ${apart === null ? here : elsewhere} (≤ 100)`,
        figure: spreadFigure(delays.nearlyAll),
        isReached: delays.nearlyAll.median <= 100,
      },
    ];
    return {
      tables: [...(apart === null ? [] : [tableOf(elsewhere, apart)]), tableOf(here, together)],
      charts: [],
      targets,
      notes: [
        'Each follower is one call of the kernel. On the loopback address this call does the receiving half too, which is half of its time (a profile of raw uWebSockets.js). Of the time of a change for all followers the JavaScript of the front is 5 ms.',
      ],
    };
  },
});

interface Sides {
  readonly count: number;
  readonly front: Followed;
  readonly raw: Followed;
}

/** Both servers with all followers, and the time of each change. */
async function follow(context: BenchContext, place: FollowerPlacement): Promise<Sides> {
  const count = context.quick ? 500 : 10_000;
  const changes = context.quick ? 5 : 40;
  const { serverHost, serverPrefix } = place;
  const [city] = (await cityEntities(2_000)).filter(({ type }) => type === 'city');
  if (city === undefined) throw new TypeError('the data set has a city');
  const rawServer = await startNodeServer(context, 'raw-uws-followers', {
    port: ports.rawUws,
    host: serverHost,
    words: [serverHost],
    prefix: serverPrefix,
  });
  const raw = new Followed(context, place, ports.rawUws, rawServer.pid);
  await raw.open(count);
  const tenants = [citiesTenant];
  const system = await System.start(context, { tenants, frontHost: serverHost, frontPrefix: serverPrefix });
  const save = async (name: string) => {
    const changed = { ...city, properties: { ...city.properties, name } };
    await post(`${system.baseUrl}/ingest/v2`, JSON.stringify([changed]));
    return nowMs();
  };
  await save('Before');
  const front = new Followed(context, place, ports.millrace, system.frontPid);
  await front.open(count);
  // Alternating, so that both run under the same conditions.
  for (let turn = 0; turn < changes; turn += 1) {
    await raw.hear(async () => {
      const requestedMs = nowMs();
      await post(`http://${serverHost}:${ports.rawUws}/`, '');
      return requestedMs;
    });
    await front.hear(() => save(`Name ${turn}`));
  }
  raw.end();
  front.end();
  await stopServer(rawServer);
  await system.stop();
  return { count, front, raw };
}

function tableOf(where: string, { count, front, raw }: Sides): Table {
  const [of, limit] = [front.delays, raw.delays];
  return {
    title: `${count.toLocaleString('en-US')} followers of one front, ${where}`,
    columns: ['', 'Millrace', 'raw uWebSockets.js'],
    rows: [
      ['ms until the first has a change', spreadFigure(of.first), spreadFigure(limit.first)],
      ['ms until half of them have it', spreadFigure(of.half), spreadFigure(limit.half)],
      ['ms until 99 % have it', spreadFigure(of.nearlyAll), spreadFigure(limit.nearlyAll)],
      ['kB of the server for each', figure(front.memory.bytesEach), figure(raw.memory.bytesEach)],
      [
        'kB for each behind the first tenth',
        figure(front.memory.furtherBytesEach),
        figure(raw.memory.furtherBytesEach),
      ],
    ],
  };
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

function figure(bytes: number): string {
  return (bytes / 1000).toFixed(1);
}

async function post(url: string, body: string): Promise<void> {
  const headers = { 'X-Api-Key': sourceKeyOf(citiesTenant), 'Content-Type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
