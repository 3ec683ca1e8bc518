/** The heartbeat of a worker: its configuration, and the partitions that it covers. */
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { platformVersion } from '../config/settings/platform-version.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import { heartbeatMs } from '../store/processes/heartbeat.ts';
import type { CopiesBeat, ProcessBeat, QueryAddresses } from '../store/processes/process-messages.ts';
import type { TurnBasis } from './batch/turn.ts';
import type { Keeper } from './ownership/keeper.ts';

export interface WorkerBeatSource {
  readonly id: string;
  readonly configuration: ActiveConfiguration;
  /** Configuration and layouts that each of its partitions works by. */
  bases(): readonly (TurnBasis & { readonly generation: number })[];
  /** Partitions that can answer queries now. */
  covered(): Iterable<number>;
  /** Loads that the index shards still wait for, for `/health/ready`. */
  waitingFor(): readonly string[];
  /** Where fronts can ask it; null: nowhere. */
  queryAddresses(): QueryAddresses | null;
  /** The shard copies that it holds; null: it holds the shards of its own partitions. */
  shardCopies(): CopiesBeat | null;
}

export class WorkerBeat {
  /** The news that was last reported. */
  #lastSent = '';
  #nextMs = 0;

  constructor(
    private readonly source: WorkerBeatSource,
    private readonly keeper: Pick<Keeper, 'markAlive' | 'sendBeat'>,
  ) {}

  /** Reports when it is due, or immediately when there is news. */
  sendWhenDue(): void {
    const nowMs = performance.now();
    const worksBy = this.#worksBy();
    const partitions = [...this.source.covered()].sort((a, b) => a - b);
    const shardCopies = this.source.shardCopies();
    const queryAddresses = this.source.queryAddresses();
    const news = JSON.stringify([worksBy, partitions, shardCopies]);
    if (news === this.#lastSent && nowMs < this.#nextMs) return;
    this.#lastSent = news;
    this.#nextMs = nowMs + heartbeatMs;
    this.keeper.markAlive();
    this.keeper.sendBeat({
      id: this.source.id,
      role: 'worker',
      host: hostname(),
      pid: process.pid,
      version: platformVersion,
      ...worksBy,
      partitions,
      waitingFor: this.source.waitingFor(),
      ...(queryAddresses === null ? {} : { queryAddresses }),
      ...(shardCopies === null ? {} : { shardCopies }),
    });
  }

  /** A batch that began by an earlier configuration still counts. */
  #worksBy(): Pick<ProcessBeat, 'generation' | 'layouts'> {
    const { configuration } = this.source;
    const bases = configuration.loaded ? this.source.bases() : [];
    return {
      generation: Math.min(configuration.generation, ...bases.map(({ generation }) => generation)),
      layouts: Math.min(configuration.layouts.version, ...bases.map(({ layouts }) => layouts.version)),
    };
  }
}
