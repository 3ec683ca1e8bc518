/** A Redis Cluster on loopback: masters with a replica each, with files in a temporary folder. It ends with the test. */
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../../src/store/redis/redis-connection.ts';
import { redisFolder } from '../../support/redis-folder.ts';
import { until } from '../../support/until.ts';
import { SystemProcess } from '../../system/support/processes/process.ts';
import { tiedRedisServer } from '../../system/support/processes/redis-server.ts';

const slotCount = 16_384;
/** A master that is silent for this long is failed over. */
export const nodeTimeoutMs = 2_000;
/** Each cluster has ports for another shard, followed by the ports of its cluster bus. */
const portFirst = 7300;
export const portsPerCluster = 8;
/** Four test files start one each, and another suite may run at the same time. */
const clustersMax = 8;

export interface ClusterNode {
  readonly name: string;
  readonly port: number;
  /** Assigned by the cluster, and stored in the files of the node. */
  id: string;
  readonly process: SystemProcess;
  readonly client: Redis;
}

/** What a node reports about another one. */
export interface NodeView {
  readonly id: string;
  readonly port: number;
  readonly isMaster: boolean;
  readonly isFailed: boolean;
  readonly masterId: string | null;
  /** Ranges of slots, both ends inclusive. */
  readonly slots: readonly (readonly [number, number])[];
}

export class RedisCluster {
  readonly nodes: ClusterNode[] = [];

  private constructor(
    private readonly folder: string,
    private readonly ports: number[],
  ) {}

  /** Starts a cluster and waits until every replica is in sync. The caller stops it. */
  static async start(masters = 3): Promise<RedisCluster> {
    const cluster = new RedisCluster(await redisFolder(), await freePorts());
    try {
      for (let shard = 0; shard < masters * 2; shard += 1) await cluster.add();
      await cluster.#form(masters);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get address(): RedisAddress {
    const seeds = this.nodes.slice(0, 3).map(({ port }) => ({ host: '127.0.0.1', port }));
    return { kind: 'cluster', seeds };
  }

  /** In the format of `REDIS_CLUSTER`. */
  get seeds(): string {
    return this.nodes
      .slice(0, 3)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join(',');
  }

  node(id: string): ClusterNode {
    const found = this.nodes.find((node) => node.id === id);
    if (found === undefined) throw new Error(`there is no node ${id}`);
    return found;
  }

  /** Starts one more node, which does not know any other yet. */
  async add(): Promise<ClusterNode> {
    const port = this.ports.shift();
    if (port === undefined) throw new Error('no port is left for another node');
    const dir = path.join(this.folder, String(port));
    mkdirSync(dir);
    const words = ['redis-server', '--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', ''];
    words.push('--appendonly', 'yes', '--appendfsync', 'everysec', '--repl-diskless-sync-delay', '0');
    words.push('--cluster-enabled', 'yes', '--cluster-port', String(port + portsPerCluster));
    words.push('--cluster-node-timeout', String(nodeTimeoutMs));
    words.push('--cluster-require-full-coverage', 'no');
    const process_ = new SystemProcess(`redis.${port}`, () => ({
      program: 'sh',
      words: ['-c', tiedRedisServer, 'redis', ...words],
      env: process.env,
    }));
    const client = new Redis({
      port,
      lazyConnect: true,
      retryStrategy: () => 100,
      maxRetriesPerRequest: null,
    });
    client.on('error', () => {});
    const node: ClusterNode = { name: `redis.${port}`, port, id: '', process: process_, client };
    this.nodes.push(node);
    process_.start();
    await until(`${node.name} answers`, async () => (await client.ping()) === 'PONG');
    node.id = (await client.cluster('MYID')) as string;
    return node;
  }

  /** Starts one more node and introduces it to all others; it has no slots yet. */
  async join(): Promise<ClusterNode> {
    const [known] = this.nodes.filter(({ process }) => process.isRunning);
    const node = await this.add();
    await known?.client.cluster('MEET', '127.0.0.1', node.port, node.port + portsPerCluster);
    await this.agreed();
    return node;
  }

  /** Does not use `redis-cli --cluster create`, which takes ten seconds instead of one. */
  async #form(masters: number): Promise<void> {
    const [first, ...others] = this.nodes;
    if (first === undefined) return;
    for (const [index, node] of this.nodes.entries())
      await node.client.cluster('SET-CONFIG-EPOCH', index + 1);
    for (const { port } of others)
      await first.client.cluster('MEET', '127.0.0.1', port, port + portsPerCluster);
    for (const [shard, { client }] of this.nodes.slice(0, masters).entries()) {
      const from = Math.floor((shard * slotCount) / masters);
      const to = Math.floor(((shard + 1) * slotCount) / masters) - 1;
      await client.cluster('ADDSLOTSRANGE', from, to);
    }
    await this.agreed();
    for (const [shard, replica] of this.nodes.slice(masters).entries()) {
      await this.attach(replica, this.nodes[shard % masters]?.id ?? '');
    }
  }

  /** Makes a node the replica of a master, and waits until it is in sync. */
  async attach(replica: ClusterNode, masterId: string): Promise<void> {
    await until(`${replica.name} follows its master`, () =>
      replica.client.cluster('REPLICATE', masterId).then(
        () => true,
        () => false,
      ),
    );
    await until(
      `${replica.name} is in step`,
      async () => (await replica.client.info('replication')).includes('master_link_status:up'),
      20_000,
    );
    await this.agreed();
  }

  /** Waits until every running node knows all others and the cluster is available. */
  async agreed(): Promise<void> {
    await until(
      'the nodes of the cluster know each other',
      async () => {
        const running = this.nodes.filter((node) => node.process.isRunning);
        const views = await Promise.all(running.map((node) => this.view(node)));
        const infos = await Promise.all(
          running.map(({ client }) => client.cluster('INFO') as Promise<string>),
        );
        return (
          views.every((view) => view.length >= running.length && sameLayout(view, views[0] ?? [])) &&
          infos.every((info) => info.includes('cluster_state:ok'))
        );
      },
      20_000,
    );
  }

  /** The whole cluster as one node sees it. */
  async view(node: ClusterNode): Promise<NodeView[]> {
    const text = (await node.client.cluster('NODES')) as string;
    return text
      .trim()
      .split('\n')
      .map((line) => {
        const [id = '', address = '', flags = '', masterId = '-', , , , , ...slots] = line.split(' ');
        return {
          id,
          port: Number(/:(\d+)@/.exec(address)?.[1]),
          isMaster: flags.split(',').includes('master'),
          isFailed: flags.split(',').includes('fail'),
          masterId: masterId === '-' ? null : masterId,
          slots: slots
            .filter((range) => !range.startsWith('['))
            .map((range) => {
              const [from = '', to = from] = range.split('-');
              return [Number(from), Number(to)] as const;
            }),
        };
      });
  }

  /** The node that serves a slot, as another running node sees it. */
  async ownerOf(slot: number): Promise<ClusterNode> {
    const witness = this.nodes.find((node) => node.process.isRunning);
    if (witness === undefined) throw new Error('no node runs');
    const owner = (await this.view(witness)).find(
      ({ isMaster, slots }) => isMaster && slots.some(([from, to]) => slot >= from && slot <= to),
    );
    if (owner === undefined) throw new Error(`no node serves slot ${slot}`);
    return this.node(owner.id);
  }

  /** The first replica of the node that serves a slot. */
  async replicaOf(slot: number): Promise<ClusterNode> {
    const owner = await this.ownerOf(slot);
    const replica = (await this.view(owner)).find(({ masterId }) => masterId === owner.id);
    if (replica === undefined) throw new Error(`${owner.name} has no replica`);
    return this.node(replica.id);
  }

  /** Moves a slot with its keys to another master, during normal operation. */
  async moveSlot(slot: number, to: ClusterNode): Promise<void> {
    const from = await this.ownerOf(slot);
    await to.client.cluster('SETSLOT', slot, 'IMPORTING', from.id);
    await from.client.cluster('SETSLOT', slot, 'MIGRATING', to.id);
    for (;;) {
      const keys = (await from.client.cluster('GETKEYSINSLOT', slot, 10)) as string[];
      if (keys.length === 0) break;
      await from.client.call('MIGRATE', '127.0.0.1', to.port, '', 0, 10_000, 'KEYS', ...keys);
    }
    for (const { client } of [to, from]) await client.cluster('SETSLOT', slot, 'NODE', to.id);
  }

  /** Waits until a node other than `former` serves a slot. @returns that node */
  async failedOver(slot: number, former: ClusterNode): Promise<ClusterNode> {
    let owner = former;
    await until(
      `another node takes over from ${former.name}`,
      async () => {
        owner = await this.ownerOf(slot);
        return owner !== former;
      },
      30_000,
    );
    return owner;
  }

  /** Deletes all data, and waits until the replicas have done so too. */
  async flush(): Promise<void> {
    const witness = this.nodes.find((node) => node.process.isRunning);
    const masters =
      witness === undefined ? [] : (await this.view(witness)).filter(({ isMaster }) => isMaster);
    for (const { id } of masters) {
      const { client } = this.node(id);
      await client.flushall();
      await client.wait(1, nodeTimeoutMs);
    }
  }

  /** Kills all nodes at the same time. */
  async kill(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.process.signal('SIGKILL')));
  }

  async stop(): Promise<void> {
    for (const { client } of this.nodes) client.disconnect();
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function sameLayout(a: readonly NodeView[], b: readonly NodeView[]): boolean {
  const layout = (view: readonly NodeView[]) =>
    JSON.stringify(view.map(({ id, masterId, slots }) => [id, masterId, slots]).sort());
  return layout(a) === layout(b);
}

/** Ports of a cluster that no other test uses while this process runs. */
async function freePorts(): Promise<number[]> {
  for (let attempt = 0; attempt < clustersMax; attempt += 1) {
    const first = portFirst + attempt * portsPerCluster * 2;
    const ports = Array.from({ length: portsPerCluster * 2 }, (_, index) => first + index);
    if (!(await takesPort(portFirst - 1 - attempt))) continue;
    const used = await Promise.all(ports.map(isUsed));
    if (!used.includes(true)) return ports.slice(0, portsPerCluster);
  }
  throw new Error(`all ports from ${portFirst} on are in use`);
}

/** Takes a port as a lock for the ports of a cluster, so that only one of two tests that start at once gets them. */
function takesPort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => {
      server.unref();
      resolve(true);
    });
  });
}

function isUsed(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
