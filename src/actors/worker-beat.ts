/** The heartbeat of a worker: its configuration, and the partitions that it covers. */
import { performance } from 'node:perf_hooks';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import { beatOf, heartbeatMs } from '../store/processes/heartbeat.ts';
import type { CopiesBeat, ProcessBeat, QueryAddresses } from '../store/processes/process-messages.ts';
import type { TurnBasis } from './batch/turn.ts';
import type { Keeper } from './ownership/keeper.ts';

export interface WorkerBeatSource {
  readonly id: string;
  readonly configuration: ActiveConfiguration;
  /** Configuration and layouts of each of its partitions. */
  bases(): readonly (TurnBasis & { readonly generation: number })[];
  /** Partitions that can answer queries now. */
  covered(): Iterable<number>;
  /** Pending loads of the index shards, for `/health/ready`. */
  waitingFor(): readonly string[];
  /** Addresses for queries from fronts; null: none. */
  queryAddresses(): QueryAddresses | null;
  /** Its shard copies; null: it has the shards of its own partitions. */
  shardCopies(): CopiesBeat | null;
}

export class WorkerBeat {
  /** The last reported state. */
  #lastSent = '';
  #nextMs = 0;

  constructor(
    private readonly source: WorkerBeatSource,
    private readonly keeper: Pick<Keeper, 'markAlive' | 'sendBeat'>,
  ) {}

  /** Sends a heartbeat when it is due, or immediately after a change. */
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
      ...beatOf(this.source.id, 'worker'),
      ...worksBy,
      partitions,
      waitingFor: this.source.waitingFor(),
      ...(queryAddresses === null ? {} : { queryAddresses }),
      ...(shardCopies === null ? {} : { shardCopies }),
    });
  }

  /** The oldest configuration and layouts in use: a batch may have begun with earlier ones. */
  #worksBy(): Pick<ProcessBeat, 'generation' | 'layouts'> {
    const { configuration } = this.source;
    const bases = configuration.loaded ? this.source.bases() : [];
    return {
      generation: Math.min(configuration.generation, ...bases.map(({ generation }) => generation)),
      layouts: Math.min(configuration.layouts.version, ...bases.map(({ layouts }) => layouts.version)),
    };
  }
}
