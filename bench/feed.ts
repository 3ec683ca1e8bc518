/** `npm run bench -- feed`: how many can follow the feed of one front, and how soon all of them hear of a change. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { typeScriptWords } from '../src/typescript/words.ts';
import type { BenchContext, Target } from './support/bench.ts';
import { startNodeServer, stopServer } from './support/contenders/server-process.ts';
import { citiesTenant } from './support/data/cities-tenant.ts';
import { cityEntities } from './support/data/sets.ts';
import { clientKeyOf, sourceKeyOf } from './support/data/tenant.ts';
import { memoryOf } from './support/platform/memory.ts';
import { System } from './support/platform/system.ts';
import { host, ports } from './support/ports.ts';
import { type Spread, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { runBench } from './support/run.ts';

interface Heard {
  readonly ready?: number;
  readonly heardAtMs?: readonly number[];
  readonly error?: string;
}

/** What followers cost one server, and how soon they hear. */
interface Figures {
  /** Of all followers, with what the server took to warm up. */
  readonly bytesEach: number;
  /** Of those behind the first tenth. */
  readonly furtherBytesEach: number;
  readonly p50: Spread;
  readonly p99: Spread;
}

await runBench({
  name: 'feed',
  question:
    'How many can follow the feed of one front? Followers by server-sent events, each on a connection of its own; then single entities are saved, and the time counts from the answer to a save until a follower has its change.',
  unfair: [
    'Raw uWebSockets.js writes prepared bytes when it is asked to, and its time counts from the request: it computes no view, reads no log and keeps no promise. It is the limit of the library and of the kernel, which takes one call for each follower.',
    'The followers are sockets of one Node process on the same machine. It reads while the server still writes, so part of each time is its own.',
    'Memory is the resident memory that a server has more than before, with what Node has not given back. Buffers of sockets in the kernel are not in it.',
  ],
  async run(context) {
    const count = context.quick ? 500 : 10_000;
    const changes = context.quick ? 5 : 40;
    const [city] = (await cityEntities(2_000)).filter(({ type }) => type === 'city');
    if (city === undefined) throw new TypeError('the data set has a city');
    const raw = await startNodeServer(context, 'raw-uws-followers', { port: ports.rawUws, words: [] });
    const limit = await measure(context, {
      pid: raw.pid,
      port: ports.rawUws,
      count,
      changes,
      change: async () => {
        const askedMs = nowMs();
        await post(`http://${host}:${ports.rawUws}/`, '');
        return askedMs;
      },
    });
    await stopServer(raw);
    const system = await System.start(context, { tenants: [citiesTenant] });
    const save = async (name: string) => {
      const changed = { ...city, properties: { ...city.properties, name } };
      await post(`${system.baseUrl}/ingest/v2`, JSON.stringify([changed]));
      return nowMs();
    };
    await save('Before');
    const front = await measure(context, {
      pid: system.frontPid,
      port: ports.millrace,
      count,
      changes,
      change: (turn) => save(`Name ${turn}`),
    });
    await system.stop();
    const kilobytes = front.bytesEach / 1000;
    const targets: Target[] = [
      { text: 'kB of the front for each (≤ 20)', figure: kilobytes.toFixed(1), isReached: kilobytes <= 20 },
      {
        text: 'ms until 99 % have a change (≤ 100)',
        figure: spreadFigure(front.p99),
        isReached: front.p99.median <= 100,
      },
    ];
    return {
      tables: [
        {
          title: `${count.toLocaleString('en-US')} followers of one front`,
          columns: ['', 'Millrace', 'raw uWebSockets.js'],
          rows: [
            ['ms until half of them have a change', spreadFigure(front.p50), spreadFigure(limit.p50)],
            ['ms until 99 % have it', spreadFigure(front.p99), spreadFigure(limit.p99)],
            ['kB of the server for each', figure(front.bytesEach), figure(limit.bytesEach)],
            [
              'kB for each behind the first tenth',
              figure(front.furtherBytesEach),
              figure(limit.furtherBytesEach),
            ],
          ],
        },
      ],
      charts: [],
      targets,
      notes: [
        'Each follower is one call of the kernel, which delivers on the loopback address within the call. Where raw uWebSockets.js is not below a bound, the bound is that of the machine.',
      ],
    };
  },
});

interface Measured {
  readonly pid: number | undefined;
  readonly port: number;
  readonly count: number;
  readonly changes: number;
  /** Makes one change that all followers hear of. @returns when it was made, in ms */
  change(turn: number): Promise<number>;
}

async function measure(
  context: BenchContext,
  { pid, port, count, changes, change }: Measured,
): Promise<Figures> {
  const residentBytes = () => memoryOf(pid)?.residentBytes ?? Number.NaN;
  const before = residentBytes();
  const followers = startFollowers(port);
  context.onEnd(() => void followers.kill());
  const first = count / 10;
  await opened(followers, first);
  const ofFirst = residentBytes();
  await opened(followers, count);
  const ofAll = residentBytes();
  const p50: number[] = [];
  const p99: number[] = [];
  for (let turn = 0; turn < changes; turn += 1) {
    const heard = next(followers, ({ heardAtMs }) => heardAtMs);
    const madeMs = await change(turn);
    const delays = (await heard).map((atMs) => Math.max(0, atMs - madeMs)).sort((a, b) => a - b);
    p50.push(delays[Math.floor(delays.length / 2)] ?? Number.NaN);
    p99.push(delays[Math.floor(delays.length * 0.99)] ?? Number.NaN);
  }
  followers.kill();
  return {
    bytesEach: (ofAll - before) / count,
    furtherBytesEach: (ofAll - ofFirst) / (count - first),
    p50: spreadOf(p50),
    p99: spreadOf(p99),
  };
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

function figure(bytes: number): string {
  return (bytes / 1000).toFixed(1);
}

function startFollowers(port: number): ChildProcess {
  const program = fileURLToPath(new URL('./support/load/followers.ts', import.meta.url));
  return fork(program, [host, String(port), clientKeyOf(citiesTenant)], { execArgv: [...typeScriptWords] });
}

async function opened(followers: ChildProcess, count: number): Promise<void> {
  const all = next(followers, ({ ready }) => (ready === count ? ready : undefined));
  followers.send(count);
  await all;
}

/** What the followers tell next of what is asked for. */
function next<T>(followers: ChildProcess, pick: (heard: Heard) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const hear = (heard: Heard) => {
      const found = pick(heard);
      if (heard.error !== undefined) reject(new Error(heard.error));
      else if (found !== undefined) {
        followers.off('message', hear);
        followers.off('exit', ended);
        resolve(found);
      }
    };
    const ended = () => reject(new Error('the followers ended'));
    followers.on('message', hear);
    followers.once('exit', ended);
  });
}

async function post(url: string, body: string): Promise<void> {
  const headers = { 'X-Api-Key': sourceKeyOf(citiesTenant), 'Content-Type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
