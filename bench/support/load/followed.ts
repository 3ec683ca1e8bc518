/** Followers of a feed in a separate process (`followers.ts`): their cost for a server, and their latency. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { typeScriptWords } from '../../../src/typescript/clone-or-package.mjs';
import type { BenchContext } from '../bench.ts';
import { citiesTenant } from '../data/cities-tenant.ts';
import { clientKeyOf } from '../data/tenant.ts';
import { memoryOf } from '../platform/memory.ts';
import { type Spread, spreadOf } from '../report/statistics.ts';
import type { FollowerPlacement } from './follower-placement.ts';

interface Heard {
  readonly ready?: number;
  /** Of the sample. */
  readonly heardAtMs?: readonly number[];
  /** All others have the change too. */
  readonly allHaveIt?: boolean;
  readonly error?: string;
}

/** What followers cost one server. */
interface Memory {
  /** Of all followers, with what the server took to warm up. */
  readonly bytesEach: number;
  /** Of those after the first tenth. */
  readonly furtherBytesEach: number;
}

/** Their latency. */
interface Delays {
  readonly first: Spread;
  readonly half: Spread;
  readonly nearlyAll: Spread;
}

/** The followers of one server. */
export class Followed {
  readonly #process: ChildProcess;
  readonly #pid: number | undefined;
  readonly #delays: Record<keyof Delays, number[]> = { first: [], half: [], nearlyAll: [] };
  memory: Memory = { bytesEach: Number.NaN, furtherBytesEach: Number.NaN };

  constructor(context: BenchContext, place: FollowerPlacement, port: number, pid: number | undefined) {
    this.#pid = pid;
    this.#process = startFollowers(place, port);
    context.onEnd(() => void this.#process.kill());
  }

  get delays(): Delays {
    const { first, half, nearlyAll } = this.#delays;
    return { first: spreadOf(first), half: spreadOf(half), nearlyAll: spreadOf(nearlyAll) };
  }

  async open(count: number): Promise<void> {
    const residentBytes = () => memoryOf(this.#pid)?.residentBytes ?? Number.NaN;
    const before = residentBytes();
    const first = count / 10;
    await opened(this.#process, first);
    const ofFirst = residentBytes();
    await opened(this.#process, count);
    const ofAll = residentBytes();
    this.memory = {
      bytesEach: (ofAll - before) / count,
      furtherBytesEach: (ofAll - ofFirst) / (count - first),
    };
  }

  /** @param change makes one change that all followers receive, and returns when it was made, in ms */
  async hear(change: () => Promise<number>): Promise<void> {
    const received = next(this.#process, ({ heardAtMs }) => heardAtMs);
    const madeMs = await change();
    const delays = (await received).map((atMs) => Math.max(0, atMs - madeMs)).sort((a, b) => a - b);
    const delayOf = (share: number) => delays[Math.floor(delays.length * share)] ?? Number.NaN;
    this.#delays.first.push(delayOf(0));
    this.#delays.half.push(delayOf(0.5));
    this.#delays.nearlyAll.push(delayOf(0.99));
    const allHaveIt = next(this.#process, (reported) => reported.allHaveIt);
    this.#process.send('read');
    await allHaveIt;
  }

  end(): void {
    this.#process.kill();
  }
}

function startFollowers({ serverHost, followerPrefix }: FollowerPlacement, port: number): ChildProcess {
  const program = fileURLToPath(new URL('./followers.ts', import.meta.url));
  const node = [
    process.execPath,
    ...typeScriptWords,
    program,
    serverHost,
    String(port),
    clientKeyOf(citiesTenant),
  ];
  const [first = '', ...words] = [...followerPrefix, ...node];
  return spawn(first, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

async function opened(followers: ChildProcess, count: number): Promise<void> {
  const all = next(followers, ({ ready }) => (ready === count ? ready : undefined));
  followers.send(count);
  await all;
}

/** The next matching message of the followers. */
function next<T>(followers: ChildProcess, pick: (received: Heard) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const hear = (received: Heard) => {
      const found = pick(received);
      if (received.error !== undefined) reject(new Error(received.error));
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
