/** Connections to Redis or Redis Cluster, and the errors that reach callers. */
import calculateSlot from 'cluster-key-slot';
import { Cluster, Redis } from 'ioredis';
import type { HostAndPort } from '../../config/settings/setting.ts';
import { jobsSilenceMs, redisSilenceMs } from '../../contract/limits.ts';
import { endFormerConnections, type OpenConnections } from './former-connections.ts';

/** A single Redis, at a URL or at the primary that sentinels report. */
export interface SingleAddress {
  readonly kind: 'single';
  /** With sentinels, it only lists the sentinels. */
  readonly url: string;
  readonly sentinels?: { readonly hosts: readonly HostAndPort[]; readonly name: string };
}

export type RedisAddress =
  | SingleAddress
  | { readonly kind: 'cluster'; readonly seeds: readonly HostAndPort[] };

export type RedisClient = Redis | Cluster;

export interface RedisConnectionOptions {
  readonly address: RedisAddress;
  /**
   * Time limit of a command. Fronts set it, so that requests get a 503 instead of hanging; workers leave it out and wait until
   * Redis is back.
   */
  readonly commandTimeoutMs?: number;
}

const retryDelayMaxMs = 1000;

const notPipelined = ['xread', 'subscribe'];

/**
 * During a failover, nodes reply with redirections. They are hidden from callers and only end with the time limit of a command.
 */
const redirectionsMax = 10_000;

const slotsRefreshMs = 2000;

function retryStrategy(attempt: number): number {
  return Math.min(50 * attempt, retryDelayMaxMs);
}

function redisOptions(options: RedisConnectionOptions) {
  return {
    // RESP3 would change the form of some replies.
    protocol: 2 as const,
    // Only a missing reply shows that an open socket is dead.
    socketTimeout: redisSilenceMs,
    enableAutoPipelining: true,
    autoPipeliningIgnoredCommands: notPipelined,
    maxRetriesPerRequest: options.commandTimeoutMs === undefined ? null : 1,
    retryStrategy,
    ...(options.commandTimeoutMs === undefined ? {} : { commandTimeout: options.commandTimeoutMs }),
  };
}

/** A client for nonblocking commands. Connection errors are ignored, because commands report them. */
export function connect(options: RedisConnectionOptions): RedisClient {
  return options.address.kind === 'single'
    ? repeating(openSingle(options.address, { ...redisOptions(options), reconnectOnError: leaveReplicas() }))
    : follow(new PunctualCluster([...options.address.seeds], clusterOptions(options)));
}

/** A client that repeats commands on a new connection. */
function repeating(client: Redis): Redis {
  endFormerConnections(client);
  return distrusting(client);
}

/**
 * Closes a connection after an unexpected reply, because later replies could be matched with the wrong command. The client
 * reconnects. Other errors are reported to the caller of the command.
 */
function distrusting<Client extends RedisClient>(client: Client): Client {
  client.on('error', (error: Error) => {
    if (isUnexpected(error)) client.disconnect(true);
  });
  return client;
}

/** True for an unexpected reply, or for a connection that would continue in another database than that of the address. */
function isUnexpected(error: Error & { readonly command?: { readonly name?: string } }): boolean {
  return error.message.startsWith('Command queue state error') || error.command?.name === 'select';
}

const leaveReplicaMs = 1_000;

/**
 * A primary that has become a replica keeps its connections and refuses writes on them. Reconnects to find the new primary, at
 * most once a second.
 */
function leaveReplicas(): (error: Error) => boolean {
  let leftMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!error.message.startsWith('READONLY') || performance.now() - leftMs < leaveReplicaMs) return false;
    leftMs = performance.now();
    return true;
  };
}

/** Keeps the slots of a cluster client up to date. */
function follow(cluster: Cluster): Cluster {
  askForSlots(cluster);
  const open = new Map<string, OpenConnections>();
  cluster.on('+node', (node: Redis) => {
    distrusting(node);
    outliveMoves(node);
    const name = `${node.options.host}:${node.options.port}`;
    const ofNode = open.get(name) ?? new Set();
    open.set(name, ofNode);
    endFormerConnections(node, ofNode);
  });
  return distrusting(cluster);
}

/**
 * Refreshes the slots regularly. The library could do it (`slotsRefreshInterval`), but a client that is closed during a refresh
 * would continue refreshing, and the process would never end.
 */
function askForSlots(cluster: Cluster): void {
  const timer = setInterval(() => cluster.refreshSlotsCache(), slotsRefreshMs).unref();
  cluster.once('end', () => clearInterval(timer));
}

/**
 * The client library drops a node that serves no slot yet, even during commands for a slot that is being moved there. It
 * repeats those commands, but the rejection of the preceding ASKING is unhandled and would crash the process.
 */
function outliveMoves(node: Redis): void {
  const asking = node.asking.bind(node);
  node.asking = () => {
    const asked = asking();
    asked.catch(() => {});
    return asked;
  };
}

/** Applies the command timeout in every phase: at a node, between redirections, and while waiting for any node. */
class PunctualCluster extends Cluster {
  override sendCommand(...sent: Parameters<Cluster['sendCommand']>): unknown {
    const { commandTimeout } = this.options.redisOptions ?? {};
    if (commandTimeout !== undefined) sent[0].setTimeout(commandTimeout);
    return super.sendCommand(...sent);
  }
}

/**
 * Ends a client immediately: pending and later commands fail. The library does not end a client that waits to reconnect, and
 * its commands would never settle. So such a client starts to connect, and that attempt is aborted.
 */
export function disconnect(client: RedisClient): void {
  if (client instanceof Redis && client.status === 'reconnecting') client.connect().catch(() => {});
  client.disconnect();
}

/** A client for the queues of BullMQ, which use the longest blocking commands. */
export function connectForJobs(address: RedisAddress): RedisClient {
  return connectBlocking(address, jobsSilenceMs);
}

/** A separate client for one blocking read, which would delay all other commands on a shared one. */
export function connectBlocking(address: RedisAddress, silenceMs = redisSilenceMs): RedisClient {
  const options = {
    protocol: 2 as const,
    socketTimeout: silenceMs,
    maxRetriesPerRequest: null,
    retryStrategy,
    // Otherwise a pending read would never settle after the connection breaks.
    autoResendUnfulfilledCommands: true,
  };
  return address.kind === 'single'
    ? repeating(openSingle(address, options))
    : follow(
        new Cluster([...address.seeds], {
          redisOptions: options,
          dnsLookup: byName,
          clusterRetryStrategy: retryStrategy,
          maxRedirections: redirectionsMax,
        }),
      );
}

/**
 * Leaves host names to the connections: the library would not connect at all while one seed does not resolve, and would not say
 * why.
 */
function byName(host: string, callback: (error: null, host: string) => void): void {
  callback(null, host);
}

function clusterOptions(options: RedisConnectionOptions) {
  const { retryStrategy: _, ...nodeOptions } = redisOptions(options);
  return {
    redisOptions: nodeOptions,
    dnsLookup: byName,
    // A pipeline follows a redirection only if all of its commands get the same one; single commands always do.
    enableAutoPipelining: false,
    clusterRetryStrategy: retryStrategy,
    maxRedirections: redirectionsMax,
  };
}

/** A single Redis, or all masters of a cluster. */
export function mastersOf(client: RedisClient): Redis[] {
  return client instanceof Redis ? [client] : client.nodes('master');
}

/** `host:port` of the master that serves a key, according to the client; null if no master serves it. */
export function nodeOf(cluster: Cluster, key: string): string | null {
  return cluster.slots[calculateSlot(key)]?.[0] ?? null;
}

/**
 * A connection to one node of a cluster. It does not reconnect, and pending commands fail when it breaks. So all its replies
 * come from the same run of one node.
 */
export function connectToNode(node: string, kind: OneLife = 'commands'): Redis {
  const colon = node.lastIndexOf(':');
  const [host, port] = [node.slice(0, colon), Number(node.slice(colon + 1))];
  return distrusting(new Redis({ ...oneLife[kind], host, port }));
}

/** Like `connectToNode`, for a single Redis. */
export function connectOnce(address: SingleAddress, kind: OneLife = 'commands'): Redis {
  return distrusting(openSingle(address, oneLife[kind]));
}

/** The library options that are used here, without `undefined`. */
interface SingleOptions {
  readonly protocol: 2;
  readonly retryStrategy: (attempt: number) => number | null;
  readonly reconnectOnError?: (error: Error) => boolean;
  readonly connectTimeout?: number;
  readonly commandTimeout?: number;
  readonly socketTimeout?: number;
  readonly maxRetriesPerRequest?: number | null;
  readonly enableAutoPipelining?: boolean;
  readonly autoPipeliningIgnoredCommands?: string[];
  readonly autoResendUnfulfilledCommands?: boolean;
}

/** Each new connection asks the sentinels for the primary. */
function openSingle({ url, sentinels }: SingleAddress, options: SingleOptions): Redis {
  if (sentinels === undefined) return new Redis(url, options);
  return new Redis({
    ...options,
    sentinels: sentinels.hosts.map((host) => ({ ...host })),
    name: sentinels.name,
    sentinelRetryStrategy: options.retryStrategy,
  });
}

/** Callers of `commands` have their own time limits, since their commands may take longer than `redisSilenceMs`. */
type OneLife = 'commands' | 'subscriber';

const commandsOnce = { protocol: 2 as const, retryStrategy: () => null, connectTimeout: 2_000 };

const oneLife = { commands: commandsOnce, subscriber: { ...commandsOnce, socketTimeout: redisSilenceMs } };
