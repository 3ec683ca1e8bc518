/**
 * Measures processor time of the platform's processes and memory of Redis. Other work on the machine hardly affects these
 * figures.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { System } from './system.ts';

export const platformParts = ['front', 'worker', 'Redis'] as const;
export type PlatformPart = (typeof platformParts)[number];

export interface Usage {
  /** Processor time so far of all processes of a kind, in microseconds. */
  readonly processorUs: Readonly<Record<PlatformPart, number>>;
  readonly redisBytes: number;
}

/** Length of a tick of the kernel's clock in `/proc`. It is the same on every Linux. */
const microsecondsPerTick = 10_000;

export class UsageProbe {
  private readonly redis: Redis;

  constructor(private readonly system: System) {
    this.redis = new Redis(system.redisUrl);
  }

  async read(): Promise<Usage> {
    const redis = await this.redis.info();
    return {
      processorUs: {
        front: sumOf(this.system.frontPids),
        worker: sumOf(this.system.workerPids),
        Redis: redisProcessorUs(redis),
      },
      redisBytes: numberOf(redis, 'used_memory'),
    };
  }

  close(): void {
    this.redis.disconnect();
  }
}

/** Processor time of all these processes. */
function sumOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + processorUs(pid), 0);
}

/** Processor time of a process; NaN if the system does not report it. */
function processorUs(pid: number): number {
  const [user, kernel] = ticksOf(pid);
  return (user + kernel) * microsecondsPerTick;
}

/** Processor time of a process and of its children, including ended ones; NaN if the system does not report it. */
export function familyProcessorUs(pid: number): number {
  const living = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const ended = ticksOf(pid).reduce((sum, ticks) => sum + ticks) * microsecondsPerTick;
  // A child that ends during this read is counted the next time, with the ended ones.
  return living.reduce((sum, child) => sum + (processorUs(Number(child)) || 0), ended);
}

/** Ticks of a process in its code and in the kernel, and of its children that ended. */
function ticksOf(pid: number): readonly [number, number, number, number] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [Number(fields[11]), Number(fields[12]), Number(fields[13]), Number(fields[14])];
  } catch {
    return [Number.NaN, Number.NaN, Number.NaN, Number.NaN];
  }
}

function redisProcessorUs(info: string): number {
  return (numberOf(info, 'used_cpu_user') + numberOf(info, 'used_cpu_sys')) * 1e6;
}

function numberOf(info: string, name: string): number {
  return Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? Number.NaN);
}

/** Measures the cost of work. */
export class Meter {
  private constructor(
    private readonly probe: UsageProbe,
    readonly idleUsPerMs: Readonly<Record<PlatformPart, number>>,
  ) {}

  static plain(probe: UsageProbe): Meter {
    const nothing = perPart(() => 0);
    return new Meter(probe, nothing);
  }

  /** A meter that subtracts the cost of the idle platform, which it measures now. */
  static async lessIdle(probe: UsageProbe, idleMs: number): Promise<Meter> {
    const { processorUs } = await Meter.plain(probe).costOf(() => sleep(idleMs));
    const idleUsPerMs = perPart((part) => processorUs[part] / idleMs);
    return new Meter(probe, idleUsPerMs);
  }

  async costOf(act: () => Promise<void>): Promise<Usage> {
    const [before, startedMs] = [await this.probe.read(), performance.now()];
    await act();
    const [after, tookMs] = [await this.probe.read(), performance.now() - startedMs];
    return {
      processorUs: perPart(
        (part) => after.processorUs[part] - before.processorUs[part] - this.idleUsPerMs[part] * tookMs,
      ),
      redisBytes: after.redisBytes - before.redisBytes,
    };
  }
}

export function perPart(figureOf: (part: PlatformPart) => number): Record<PlatformPart, number> {
  return Object.fromEntries(platformParts.map((part) => [part, figureOf(part)])) as Record<
    PlatformPart,
    number
  >;
}
