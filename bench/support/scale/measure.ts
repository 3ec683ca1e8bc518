/** Measures a platform whose fronts and workers have a fixed share of a processor each. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../bench.ts';
import type { Entity } from '../data/sets.ts';
import { type LoadOptions, load, type TriedLoad, tryLoad } from '../load/wrk.ts';
import type { ProcessorShares } from '../platform/shares.ts';
import { type PlatformPart, perPart, UsageProbe } from '../platform/usage.ts';
import { skippedIn } from '../query/mix.ts';
import {
  importOverAll,
  ingestTenant,
  type Layout,
  type ScaleData,
  type ScaledPlatform,
  startScaled,
} from './layout.ts';

/** One load: what was done, and its cost. */
export interface Measured {
  readonly perSecond: number;
  /** Processor time of all processes of a kind per operation, in microseconds. */
  readonly us: Readonly<Record<PlatformPart, number>>;
}

export interface LayoutFigures {
  readonly ingest: readonly Measured[];
  readonly queries: readonly Measured[];
  /** A worker was killed under load; null: no other one has its items. */
  readonly killed: KilledFigures | null;
}

export interface KilledFigures {
  readonly queriesPerSecond: number;
  readonly failed: number;
  readonly slowestMs: number;
}

export interface ScaleTerms {
  readonly wrk: string;
  /** Null: nothing is limited, as in a smoke run without the permission. */
  readonly shares: ProcessorShares | null;
  /** Of one processor, for each front and each worker. */
  readonly share: number;
  /** Entities of a load, for each worker. */
  readonly entitiesEach: number;
  readonly entities: readonly Entity[];
  readonly seconds: number;
}

const connectionsEach = 16;
/** Work left by the start and imports, such as garbage collection, ends before anything is limited. */
const restMs = 1_000;

export async function measureLayout(
  context: BenchContext,
  layout: Layout,
  data: ScaleData,
  terms: ScaleTerms,
): Promise<LayoutFigures> {
  const platforms = await startScaled(context, layout, data);
  const systems = platforms.map(({ system }) => system);
  const probes = systems.map((system) => new UsageProbe(system));
  try {
    await queryAll(platforms, terms, context.rounds + 1);
    await sleep(context.quick ? 0 : restMs);
    const pids = systems.flatMap(({ frontPids, workerPids }) => [...frontPids, ...workerPids]);
    terms.shares?.limit(pids, terms.share);
    const [ingest, queries]: [Measured[], Measured[]] = [[], []];
    for (let round = 0; round < context.rounds; round += 1) {
      const part = terms.entities.slice(0, terms.entitiesEach * layout.processes);
      ingest.push(
        await measured(probes, async () => {
          await Promise.all(
            systems.map((system, number) => {
              const own = part.filter((_, at) => at % systems.length === number);
              return importOverAll(context, system, ingestTenant(round), own);
            }),
          );
          return part.length;
        }),
      );
      for (const { contender } of platforms) await contender.forget();
      queries.push(await measured(probes, () => queryAll(platforms, terms, round)));
    }
    terms.shares?.lift();
    const killed = layout.shardCopies > 1 ? await killUnderLoad(platforms, terms, context.rounds) : null;
    return { ingest, queries, killed };
  } finally {
    terms.shares?.lift();
    for (const probe of probes) probe.close();
    await Promise.all(systems.map((system) => system.stop()));
  }
}

/** Sends queries over all fronts concurrently. @returns the number of queries that were answered */
async function queryAll(
  platforms: readonly ScaledPlatform[],
  terms: ScaleTerms,
  round: number,
): Promise<number> {
  const loads = await Promise.all(
    loadsOf(platforms, terms.seconds, round).map((options) => load(terms.wrk, options)),
  );
  return loads.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond * terms.seconds, 0);
}

/** A load for each front. Each starts with another query. */
function loadsOf(platforms: readonly ScaledPlatform[], seconds: number, round: number): LoadOptions[] {
  const fronts = platforms.flatMap(({ system, requestFile, queryCount }) =>
    system.baseUrls.map((url) => ({ port: Number(new URL(url).port), requestFile, queryCount })),
  );
  return fronts.map(({ port, requestFile, queryCount }, front) => {
    const skipped = skippedIn(round + front / fronts.length, queryCount);
    return { port, requestFile, connections: connectionsEach, seconds, skipped };
  });
}

/** Kills the first worker during a load, as when its machine fails. */
async function killUnderLoad(
  platforms: readonly ScaledPlatform[],
  { wrk, seconds }: ScaleTerms,
  round: number,
): Promise<KilledFigures> {
  const loads = Promise.all(loadsOf(platforms, seconds, round).map((options) => tryLoad(wrk, options)));
  await sleep((seconds * 1000) / 2);
  const pid = platforms[0]?.system.workerPid;
  if (pid === undefined) throw new Error('the worker ended by itself');
  process.kill(pid, 'SIGKILL');
  const all = await loads;
  const sum = (of: (load: TriedLoad) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    queriesPerSecond: sum(({ requestsPerSecond }) => requestsPerSecond),
    failed: sum(({ failed }) => failed),
    slowestMs: Math.max(...all.map(({ slowestMs }) => slowestMs)),
  };
}

async function measured(probes: readonly UsageProbe[], act: () => Promise<number>): Promise<Measured> {
  const [before, startedMs] = [await processorUs(probes), performance.now()];
  const count = await act();
  const [tookMs, after] = [performance.now() - startedMs, await processorUs(probes)];
  return { perSecond: count / (tookMs / 1000), us: perPart((part) => (after[part] - before[part]) / count) };
}

async function processorUs(probes: readonly UsageProbe[]): Promise<Readonly<Record<PlatformPart, number>>> {
  const usages = await Promise.all(probes.map((probe) => probe.read()));
  return perPart((part) => usages.reduce((sum, usage) => sum + usage.processorUs[part], 0));
}
