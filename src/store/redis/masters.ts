/** The masters that confirm writes (`replication.ts`): those of a cluster, or the one Redis with its replicas. */
import type { Cluster, Redis } from 'ioredis';
import { keys, platformTag } from '../keys.ts';
import { connectOnce, connectToNode, nodeOf, type SingleAddress } from './redis-connection.ts';

export interface Masters {
  /** Replicas that must have a write. */
  readonly replicas: number;
  /** Those of the written tags that are to be confirmed. */
  toConfirm(tags: readonly string[]): readonly string[];
  /** Name of the master that has the keys of a tag; null while no master serves it. */
  nameOf(tag: string): string | null;
  /** A connection that ends for good when it breaks. */
  connect(name: string): Redis;
  /** Whether a master may continue without its replicas: no other could take its place. */
  isLone(client: Redis): Promise<boolean>;
  /** A master turned out to be another one, or gone. */
  onMoved(): void;
}

export class ClusterMasters implements Masters {
  /**
   * @param replicas of each master that must have a write
   * @param mayBeLone whether a master continues without them when the cluster has given up all replicas it had
   */
  constructor(
    private readonly cluster: Cluster,
    readonly replicas = 1,
    private readonly mayBeLone = true,
  ) {}

  toConfirm(tags: readonly string[]): readonly string[] {
    return tags;
  }

  nameOf(tag: string): string | null {
    return nodeOf(this.cluster, keys.confirmed(tag));
  }

  connect(name: string): Redis {
    return connectToNode(name);
  }

  /** True when the cluster has given up all replicas of the master, as after a failover. */
  async isLone(client: Redis): Promise<boolean> {
    if (!this.mayBeLone) return false;
    const id = (await client.cluster('MYID')) as string;
    const replicas = (await client.cluster('REPLICAS', id)) as string[];
    return replicas.every((line) => (line.split(' ')[2] ?? '').split(',').includes('fail'));
  }

  onMoved(): void {
    this.cluster.refreshSlotsCache(() => {});
  }
}

/** The Redis that answers at the one address. All its writes are one log, so one confirmation stands for all of them. */
export class OneMaster implements Masters {
  constructor(
    private readonly address: SingleAddress,
    readonly replicas: number,
  ) {}

  toConfirm(tags: readonly string[]): readonly string[] {
    return tags.length === 0 ? [] : [platformTag];
  }

  nameOf(): string {
    return this.address.url;
  }

  connect(): Redis {
    return connectOnce(this.address);
  }

  /** It is not known here which replica may be promoted, so even a replica that is gone is waited for. */
  async isLone(): Promise<boolean> {
    return false;
  }

  onMoved(): void {}
}
