/** A worker as the actors run it, reduced to what queries see: leases, commits, shards, heartbeats. */

import { hostname } from 'node:os';
import type { Configuration } from '../../../src/config/configuration.ts';
import { ShardCopies } from '../../../src/query/worker/copies/shard-copies.ts';
import { Responder } from '../../../src/query/worker/responder.ts';
import { ShardSet } from '../../../src/query/worker/shard-set.ts';
import { OwnedShards } from '../../../src/query/worker/shard-state.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { inferFieldType } from '../../../src/search/fields/infer.ts';
import { encodeItem } from '../../../src/store/derived/item-record.ts';
import { type ItemChange, itemIndexField, packItemNames } from '../../../src/store/derived/items.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { keys } from '../../../src/store/keys.ts';
import { releaseLease, type TakenLease, takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import { Heartbeat } from '../../../src/store/processes/heartbeat.ts';
import type { ProcessBeat, QueryAddresses } from '../../../src/store/processes/process-messages.ts';
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import { sourceField } from '../../../src/store/scopes.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../support/until.ts';

const leaseMs = 60_000;

/** Unix sockets, TCP, or none. */
export type Way = 'path' | 'tcp' | 'none';

export class TestWorker {
  readonly shards: ShardSet;
  /** The copies that it answers from, instead of the shards of its own partitions; null: it holds none. */
  readonly copies: ShardCopies | null;
  readonly responder: Responder;
  readonly autoFields: AutoFields;
  readonly #leases = new Map<number, TakenLease>();
  #heartbeat: Heartbeat | null = null;
  readonly errors: unknown[] = [];
  /** How often it has checked whether its shards can answer a request. */
  looks = 0;
  /** Partitions that it claims to cover; those of its leases unless a test sets others. */
  covered: () => ReadonlyMap<number, number> = () =>
    new Map(
      [...this.#leases]
        .filter(([partition]) => this.shards.held.applied(partition) !== null)
        .map(([partition, { epoch }]) => [partition, epoch]),
    );

  constructor(
    readonly store: Store,
    readonly id: string,
    configuration: Configuration,
    /** How fronts reach it. */
    public way: Way = 'path',
    queryCpuMs?: number,
    /** As `SHARD_COPIES`. */
    copies = 1,
  ) {
    this.autoFields = new AutoFields(store);
    this.shards = new ShardSet(store, this.autoFields, configuration);
    const onError = (_: string, error: unknown) => this.errors.push(error);
    this.copies =
      copies === 1
        ? null
        : new ShardCopies({
            store,
            workerId: id,
            copies,
            autoFields: this.autoFields,
            configuration,
            onError,
          });
    this.responder = new Responder({
      store,
      workerId: id,
      shards: this.copies ?? new OwnedShards(this.shards, () => this.#look(), store.partitions.count),
      ...(queryCpuMs === undefined ? {} : { queryCpuMs }),
      onError: (error) => this.errors.push(error),
    });
  }

  async start(partitions: readonly number[]): Promise<void> {
    await this.responder.start();
    this.copies?.start();
    for (const partition of partitions) await this.take(partition);
    this.#heartbeat = new Heartbeat(this.store, { beat: () => this.#beat(), metrics: async () => '' });
    await until('it sees itself', async () =>
      (await liveProcesses(this.store)).some(({ id }) => id === this.id),
    );
  }

  async take(partition: number): Promise<void> {
    const lease = await takeLease(this.store, partition, this.id, leaseMs);
    if (lease === null) throw new Error(`partition ${partition} is owned`);
    this.#leases.set(partition, lease);
    if (this.copies === null) await this.shards.open(partition, lease.epoch, lease.commits);
  }

  async release(partition: number): Promise<void> {
    const lease = this.#leases.get(partition);
    if (lease === undefined) return;
    this.#leases.delete(partition);
    this.shards.close(partition);
    await releaseLease(this.store, lease);
  }

  /** Announces its changes immediately. */
  beat(): void {
    this.#heartbeat?.send();
  }

  #look(): ReadonlyMap<number, number> {
    this.looks += 1;
    return this.covered();
  }

  #addresses(): QueryAddresses {
    const { socketPath, tcp } = this.responder.addresses;
    return { socketPath: this.way === 'path' ? socketPath : null, tcp: this.way === 'tcp' ? tcp : null };
  }

  #beat(): ProcessBeat {
    const shardCopies = this.copies?.beat;
    return {
      id: this.id,
      role: 'worker',
      host: hostname(),
      pid: process.pid,
      layouts: 0,
      generation: 1,
      partitions: [...this.covered().keys()],
      waitingFor: [],
      queryAddresses: this.#addresses(),
      ...(shardCopies == null ? {} : { shardCopies }),
    };
  }

  /** Stops answering without notice, like a killed process. Its leases remain valid. */
  async kill(): Promise<void> {
    this.#heartbeat?.stopSilently();
    await this.responder.close();
    await this.copies?.close();
  }

  /** Ends like a stopped process. */
  async stop(): Promise<void> {
    for (const partition of [...this.#leases.keys()]) await this.release(partition);
    await this.responder.close();
    await this.copies?.close();
    await this.#heartbeat?.close();
  }

  /** Lets its leases expire, like those of a killed process. */
  async loseLeases(): Promise<void> {
    for (const lease of this.#leases.values()) await releaseLease(this.store, lease);
  }

  owns(partition: number): boolean {
    return this.#leases.has(partition);
  }

  /** Commits changes of one partition and applies them, as its owner. @returns number of the commit */
  async write(partition: number, changes: readonly ItemChange[]): Promise<number> {
    const number = await this.commit(partition, changes);
    this.shards.apply(partition, number, changes);
    return number;
  }

  /** @returns number of the commit, which the shards do not have yet */
  async commit(partition: number, changes: readonly ItemChange[]): Promise<number> {
    const lease = this.#leases.get(partition);
    if (lease === undefined) throw new Error(`partition ${partition} is not ours`);
    const writes = new PartitionWrites();
    for (const change of changes) {
      const { scope, index, sourceId, originId, item } = change;
      const key = keys.items(lease.tag, scope.tenant, scope.environmentId, sourceId, index);
      if (item === null) writes.delete(key, originId);
      else {
        await this.#decideFields(change);
        writes.set(key, originId, encodeItem(item));
        writes.set(
          keys.sources(lease.tag),
          sourceField({ tenant: scope.tenant, sourceId }),
          Buffer.from('1'),
        );
        writes.set(keys.itemIndexes(lease.tag), itemIndexField({ scope, index }), Buffer.from('1'));
      }
    }
    const announcement = {
      checkpoint: 0,
      pendingRebuilds: new Map(),
      downstream: [],
      digests: Buffer.alloc(0),
      ...(this.copies === null ? {} : { itemNames: packItemNames(changes) }),
    };
    return commit(this.store, lease, writes, announcement);
  }

  async #decideFields({ scope, index, sourceId, item }: ItemChange): Promise<void> {
    const [kind, , ...type] = index.split(':');
    if (kind !== 'auto' || item === null) return;
    const candidates = new Map<string, FieldType>();
    for (const [name, value] of Object.entries(item.fields)) {
      const inferred = inferFieldType(value);
      if (inferred !== null) candidates.set(name, inferred);
    }
    await this.autoFields.decide(scope.tenant, sourceId, type.join(':'), candidates);
  }
}
