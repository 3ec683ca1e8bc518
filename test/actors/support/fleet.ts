/** Workers of a test in one process, each with its own connection, configuration and item sink, like a process. */
import { Worker } from '../../../src/actors/worker.ts';
import { hashKeys } from '../../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { ActiveConfiguration } from '../../../src/store/configuration/active-configuration.ts';
import { publishConfiguration } from '../../../src/store/configuration/published-configuration.ts';
import type { StoredItem } from '../../../src/store/derived/item-record.ts';
import {
  decodeItems,
  type ItemChange,
  type ItemSink,
  listItemIndexes,
  scanItems,
} from '../../../src/store/derived/items.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { indexName, keys } from '../../../src/store/keys.ts';
import { readOwners } from '../../../src/store/ownership/owners.ts';
import { disconnect } from '../../../src/store/redis/redis-connection.ts';
import type { Store } from '../../../src/store/store.ts';
import { tellEnd } from '../../support/heartbeats.ts';
import type { TestRedis } from '../../support/redis.ts';

/** Records the state of a shard, and checks the order of its changes. */
export class RecordingSink implements ItemSink {
  readonly #partitions = new Map<number, Map<string, StoredItem>>();
  readonly #commits = new Map<number, number>();

  constructor(private readonly store: Store) {}

  async open(partition: number, _epoch: number, commits: number): Promise<void> {
    const items = new Map<string, StoredItem>();
    for (const { scope, index } of await listItemIndexes(this.store, partition)) {
      for await (const portion of scanItems(this.store, partition, scope, index)) {
        for (const item of await decodeItems(portion)) items.set(nameOf(scope, index, item), item);
      }
    }
    this.#partitions.set(partition, items);
    this.#commits.set(partition, commits);
  }

  apply(partition: number, commits: number, changes: readonly ItemChange[]): void {
    const items = this.#partitions.get(partition);
    const before = this.#commits.get(partition);
    if (items === undefined || before === undefined) throw new Error(`partition ${partition} is not open`);
    if (commits !== before + 1) throw new Error(`commit ${commits} of ${partition} follows ${before}`);
    this.#commits.set(partition, commits);
    for (const { scope, index, sourceId, originId, item } of changes) {
      const name = nameOf(scope, index, { sourceId, originId });
      if (item === null) items.delete(name);
      else items.set(name, item);
    }
  }

  close(partition: number): void {
    this.#partitions.delete(partition);
  }

  /** Items of a partition; null if it is not open here. */
  items(partition: number): ReadonlyMap<string, StoredItem> | null {
    return this.#partitions.get(partition) ?? null;
  }
}

export function nameOf(
  { tenant, environmentId }: { tenant: string; environmentId: string },
  index: string,
  { sourceId, originId }: { sourceId: string; originId: string },
): string {
  return `${tenant}|${environmentId}|${index}|${sourceId}:${originId}`;
}

/** Items of one index schema by originId, as stored in Redis. */
export async function storedItems(
  store: Store,
  scope: { tenant: string; environmentId: string },
  alias: string,
): Promise<Map<string, StoredItem>> {
  const items = new Map<string, StoredItem>();
  for (const partition of store.partitions.tags.keys()) {
    for await (const portion of scanItems(store, partition, scope, indexName.schema(alias))) {
      for (const item of await decodeItems(portion)) items.set(item.originId, item);
    }
  }
  return items;
}

export async function publishDocuments(store: Store, plain: ReadonlyMap<string, string>): Promise<number> {
  const documents = hashKeys(plain);
  const loaded = loadConfiguration(documents);
  if (!loaded.ok)
    throw new Error(loaded.issues.map(({ file, path, message }) => `${file} ${path} ${message}`).join('\n'));
  return await publishConfiguration(store, documents, loaded.configuration);
}

export interface Member {
  readonly worker: Worker;
  readonly sink: RecordingSink;
  /** Ends like a stopped process. */
  stop(): Promise<void>;
  /** Ends in the middle of its work: its connection is gone, its leases and heartbeat remain. */
  crash(): Promise<void>;
}

export class Fleet {
  readonly members = new Set<Member>();
  /** What workers reported, except lost connections of crashed ones. */
  readonly errors: unknown[] = [];

  constructor(
    private readonly redis: TestRedis,
    /** Of the test itself. */
    readonly store: Store,
    /** Absent: the documented default. */
    private readonly leaseMs?: number,
  ) {}

  async add(): Promise<Member> {
    const store = await this.redis.openStore(this.store.partitions.count);
    const configuration = new ActiveConfiguration(store);
    await configuration.start();
    return this.join(store, configuration);
  }

  /** Adds a worker with its own connection and configuration. */
  join(store: Store, configuration: ActiveConfiguration): Member {
    const sink = new RecordingSink(store);
    let ended = false;
    const worker = new Worker({
      store,
      configuration,
      autoFields: new AutoFields(store),
      items: sink,
      ...(this.leaseMs !== undefined && { leaseMs: this.leaseMs }),
      waitingFor: () => [],
      onError: (message, error) => {
        if (!ended) this.errors.push(message, error);
      },
    });
    const end = async () => {
      this.members.delete(member);
      ended = true;
      configuration.close();
      await worker.stop();
      await store.close();
    };
    const member: Member = {
      worker,
      sink,
      stop: end,
      crash: async () => {
        ended = true;
        disconnect(store.client);
        await end();
      },
    };
    this.members.add(member);
    worker.start();
    return member;
  }

  /** Has the effect of expired leases immediately: everything that dead workers own is free. */
  async expireLeases(): Promise<void> {
    const live = new Set([...this.members].map(({ worker }) => worker.id));
    for (const [partition, { workerId }] of (await readOwners(this.store)).entries()) {
      if (workerId === null || live.has(workerId)) continue;
      await this.store.client.hset(keys.owner(this.store.partitions.tag(partition)), 'leaseUntilMs', 0);
      await tellEnd(this.store, workerId);
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.members].map((member) => member.stop()));
  }
}
