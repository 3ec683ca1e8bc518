/** Where writes go whose survival is confirmed (`replication.ts`): the masters of a cluster, or the one Redis with its replicas. */
import type { Cluster, Redis } from 'ioredis';
import { keys, platformTag } from '../keys.ts';
import { connectOnce, connectToNode, nodeOf, type RedisAddress } from './connection.ts';

export interface Masters {
  /** Replicas that must have a write. */
  readonly replicas: number;
  /** Of tags under which something was written those that are to be confirmed. */
  toConfirm(tags: readonly string[]): readonly string[];
  /** Name of the master that has the keys of a tag; null while nobody serves them. */
  nameOf(tag: string): string | null;
  /** A connection that ends for good when it breaks. */
  connect(name: string): Redis;
  /** Whether a master may go on without its replicas: no other could take its place. */
  isLone(client: Redis): Promise<boolean>;
  /** A master turned out to be another one, or gone. */
  onMoved(): void;
}

export class ClusterMasters implements Masters {
  readonly replicas = 1;

  constructor(private readonly cluster: Cluster) {}

  toConfirm(tags: readonly string[]): readonly string[] {
    return tags;
  }

  nameOf(tag: string): string | null {
    return nodeOf(this.cluster, keys.confirmed(tag));
  }

  connect(name: string): Redis {
    return connectToNode(name);
  }

  /** One whose replicas the cluster has all given up, as after a failover. */
  async isLone(client: Redis): Promise<boolean> {
    const id = (await client.cluster('MYID')) as string;
    const replicas = (await client.cluster('REPLICAS', id)) as string[];
    return replicas.every((line) => (line.split(' ')[2] ?? '').split(',').includes('fail'));
  }

  onMoved(): void {
    this.cluster.refreshSlotsCache(() => {});
  }
}

/** Whoever answers at the address of the one Redis. All that is written there is one log, so one write stands for all. */
export class OneMaster implements Masters {
  constructor(
    private readonly address: RedisAddress & { kind: 'single' },
    readonly replicas: number,
  ) {}

  toConfirm(tags: readonly string[]): readonly string[] {
    return tags.length === 0 ? [] : [platformTag];
  }

  nameOf(): string {
    return this.address.url;
  }

  connect(): Redis {
    return connectOnce(this.address.url);
  }

  /** Who may be promoted is not known here, so a replica that is gone is waited for. */
  async isLone(): Promise<boolean> {
    return false;
  }

  onMoved(): void {}
}
