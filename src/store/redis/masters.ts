/** The masters that confirm writes (`replication.ts`): those of a cluster, or a single Redis with replicas. */
import type { Cluster, Redis } from 'ioredis';
import { keys, platformTag } from '../keys.ts';
import { connectOnce, connectToNode, nodeOf, type SingleAddress } from './redis-connection.ts';

export interface Masters {
  /** Number of replicas that must have a write. */
  readonly replicas: number;
  /** Which of the written tags need confirmation. */
  toConfirm(tags: readonly string[]): readonly string[];
  /** Name of the master of a tag's keys; null while no master serves it. */
  nameOf(tag: string): string | null;
  /** A connection that does not reconnect. */
  connect(name: string): Redis;
  /** Whether a master may continue without replicas, because none could be promoted. */
  isLone(client: Redis): Promise<boolean>;
  /** Called when a master was replaced or is gone. */
  onMoved(): void;
}

export class ClusterMasters implements Masters {
  /**
   * @param replicas number of replicas of each master that must have a write
   * @param mayBeLone whether a master continues without replicas after the cluster has marked all of them as failed
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

  /** True if the cluster has marked all replicas of the master as failed, as after a failover. */
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

/** A single Redis. All its writes are in one log, so one confirmation covers them all. */
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

  /** Which replica may be promoted is unknown here, so wait even for replicas that are gone. */
  async isLone(): Promise<boolean> {
    return false;
  }

  onMoved(): void {}
}
