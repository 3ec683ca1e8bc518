/** Monitors the system while it is attacked: it must stay live, fast and within its memory, and the canary unchanged. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../../system/support/processes/system.ts';
import { Canary } from './canary.ts';
import { send } from './wire.ts';

const liveRequest = Buffer.from('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
/** Time limit of `/health/live`. A busy machine may cause one late answer, but not two in a row. */
const liveMs = 1_000;
const liveHopelessMs = 8_000;
const watchEveryMs = 200;
const canaryEveryMs = 1_500;

export interface GuardLimits {
  readonly webBytes: number;
  readonly workerBytes: number;
}

export class Guard {
  readonly #alarms: string[] = [];
  readonly #watches: Promise<void>[] = [];
  #isOver = false;
  slowestLiveMs = 0;
  /** Largest resident sizes seen, by process. */
  readonly peakBytes = new Map<string, number>();

  private constructor(
    private readonly system: System,
    private readonly canary: Canary,
    private readonly limits: GuardLimits,
  ) {}

  static async start(system: System, limits: GuardLimits): Promise<Guard> {
    const guard = new Guard(system, await Canary.hatch(system), limits);
    guard.#watches.push(guard.#watchLive(), guard.#watchCanary());
    return guard;
  }

  /** @throws Error with all problems since the start */
  check(): void {
    if (this.#alarms.length > 0) throw new Error(this.#alarms.join('; '));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#watches);
    await this.#look(() => this.canary.sings());
    this.check();
  }

  async #watchLive(): Promise<void> {
    let late = 0;
    while (!this.#isOver) {
      await this.#look(async () => {
        const { status, tookMs } = await send(this.#port, liveRequest, { patienceMs: liveHopelessMs });
        this.slowestLiveMs = Math.max(this.slowestLiveMs, tookMs);
        late = tookMs > liveMs ? late + 1 : 0;
        if (status !== 200 || late > 1) this.#alarms.push(`/health/live: ${status} after ${tookMs} ms`);
        this.#weigh();
      });
      await sleep(watchEveryMs);
    }
  }

  async #watchCanary(): Promise<void> {
    while (!this.#isOver) {
      await this.#look(() => this.canary.sings());
      await sleep(canaryEveryMs);
    }
  }

  async #look(at: () => Promise<void>): Promise<void> {
    try {
      await at();
    } catch (error) {
      this.#alarms.push(error instanceof Error ? error.message : String(error));
    }
  }

  #weigh(): void {
    for (const name of ['web.1', 'worker.1']) {
      const process_ = this.system.process(name);
      if (!process_.isRunning) {
        this.#alarms.push(`${name} is gone`);
        continue;
      }
      const bytes = residentBytes(process_.pid);
      this.peakBytes.set(name, Math.max(bytes, this.peakBytes.get(name) ?? 0));
      const limit = name === 'web.1' ? this.limits.webBytes : this.limits.workerBytes;
      if (bytes > limit) this.#alarms.push(`${name} has grown to ${bytes} bytes`);
    }
  }

  get #port(): number {
    return Number(new URL(this.system.url()).port);
  }
}

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}
