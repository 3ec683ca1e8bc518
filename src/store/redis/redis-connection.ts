/** Connections to Redis or Redis Cluster, and the errors that reach callers. */
import calculateSlot from 'cluster-key-slot';
import { Cluster, Redis } from 'ioredis';
import { jobsSilenceMs, redisSilenceMs } from '../../contract/limits.ts';

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** One Redis, at a URL or wherever the primary is that sentinels name. */
export interface SingleAddress {
  readonly kind: 'single';
  /** With sentinels it says only who they are. */
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
   * How long a command may take before it fails. Fronts set it, so that a request ends in a 503 instead of hanging;
   * workers leave it out and wait for Redis to come back.
   */
  readonly commandTimeoutMs?: number;
}

const retryDelayMaxMs = 1000;

const notPipelined = ['xread', 'subscribe'];

/** During a failover nodes answer with redirections. Callers need not know of them; the time limit of a command ends them. */
const redirectionsMax = 10_000;

const slotsRefreshMs = 2000;

function retryStrategy(attempt: number): number {
  return Math.min(50 * attempt, retryDelayMaxMs);
}

function redisOptions(options: RedisConnectionOptions) {
  return {
    // The replies of RESP2 are the ones that scripts and streams are documented with.
    protocol: 2 as const,
    // An open socket may be dead. Only a missing reply shows that.
    socketTimeout: redisSilenceMs,
    enableAutoPipelining: true,
    autoPipeliningIgnoredCommands: notPipelined,
    maxRetriesPerRequest: options.commandTimeoutMs === undefined ? null : 1,
    retryStrategy,
    ...(options.commandTimeoutMs === undefined ? {} : { commandTimeout: options.commandTimeoutMs }),
  };
}

/** A client for commands that answer immediately. Errors while unconnected are kept quiet: commands report them. */
export function connect(options: RedisConnectionOptions): RedisClient {
  const client =
    options.address.kind === 'single'
      ? openSingle(options.address, { ...redisOptions(options), reconnectOnError: leaveReplicas() })
      : follow(new PunctualCluster([...options.address.seeds], clusterOptions(options)));
  return distrusting(client);
}

/**
 * Closes a connection on which something unexpected came, because no later reply could be matched with its command. It
 * connects again by itself. Other errors reach the sender of the command.
 */
function distrusting<Client extends RedisClient>(client: Client): Client {
  client.on('error', (error: Error) => {
    if (isUnexpected(error)) client.disconnect(true);
  });
  return client;
}

/** An unexpected reply, or a connection that would continue in another database than that of the address. */
function isUnexpected(error: Error & { readonly command?: { readonly name?: string } }): boolean {
  return error.message.startsWith('Command queue state error') || error.command?.name === 'select';
}

const leaveReplicaMs = 1_000;

/**
 * A primary that became a replica keeps its connections and refuses what is written on them. A new connection finds the
 * primary that took its place, and there is at most one such attempt a second.
 */
function leaveReplicas(): (error: Error) => boolean {
  let leftMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!error.message.startsWith('READONLY') || performance.now() - leftMs < leaveReplicaMs) return false;
    leftMs = performance.now();
    return true;
  };
}

/** Keeps a client of a cluster in step with what its nodes serve. */
function follow(cluster: Cluster): Cluster {
  askForSlots(cluster);
  outliveMoves(cluster);
  return cluster;
}

/**
 * Asks now and then who serves which slots. The library could do it (`slotsRefreshInterval`), but a client that was closed
 * while it asked would continue asking, and no process of it would ever end.
 */
function askForSlots(cluster: Cluster): void {
  const timer = setInterval(() => cluster.refreshSlotsCache(), slotsRefreshMs).unref();
  cluster.once('end', () => clearInterval(timer));
}

/**
 * The client library drops a node that serves no slot yet, even while commands for a slot that moves there are under way. It
 * sends those commands again. But the failure of the ASKING before them is unhandled, and would crash the process.
 */
function outliveMoves(cluster: Cluster): void {
  cluster.on('+node', (node: Redis) => {
    distrusting(node);
    const asking = node.asking.bind(node);
    node.asking = () => {
      const asked = asking();
      asked.catch(() => {});
      return asked;
    };
  });
}

/** Ends commands in time wherever they are: at a node, between redirections, or waiting for any node at all. */
class PunctualCluster extends Cluster {
  override sendCommand(...sent: Parameters<Cluster['sendCommand']>): unknown {
    const { commandTimeout } = this.options.redisOptions ?? {};
    if (commandTimeout !== undefined) sent[0].setTimeout(commandTimeout);
    return super.sendCommand(...sent);
  }
}

/**
 * Ends a client immediately: the commands that it has, and those that it gets later, fail. The library does not end a client
 * that waits to connect again, and its commands would never settle. So such a client begins to connect, which is then
 * broken off.
 */
export function disconnect(client: RedisClient): void {
  if (client instanceof Redis && client.status === 'reconnecting') client.connect().catch(() => {});
  client.disconnect();
}

/** A client for the queues of BullMQ, which blocks longer than anyone else. */
export function connectForJobs(address: RedisAddress): RedisClient {
  return connectBlocking(address, jobsSilenceMs);
}

/** A client of its own for one blocking read: on a shared one it would hold up every other command. */
export function connectBlocking(address: RedisAddress, silenceMs = redisSilenceMs): RedisClient {
  const options = {
    protocol: 2 as const,
    socketTimeout: silenceMs,
    maxRetriesPerRequest: null,
    retryStrategy,
    // Without it a read under way when the connection broke would never settle.
    autoResendUnfulfilledCommands: true,
  };
  const client =
    address.kind === 'single'
      ? openSingle(address, options)
      : follow(
          new Cluster([...address.seeds], {
            redisOptions: options,
            clusterRetryStrategy: retryStrategy,
            maxRedirections: redirectionsMax,
          }),
        );
  return distrusting(client);
}

function clusterOptions(options: RedisConnectionOptions) {
  const { retryStrategy: _, ...nodeOptions } = redisOptions(options);
  return {
    redisOptions: nodeOptions,
    // A pipeline follows a redirection only if all of its commands get the same one; a command alone always does.
    enableAutoPipelining: false,
    clusterRetryStrategy: retryStrategy,
    maxRedirections: redirectionsMax,
  };
}

/** `host:port` of the master that serves a key, as far as the client knows; null when no master serves it. */
export function nodeOf(cluster: Cluster, key: string): string | null {
  return cluster.slots[calculateSlot(key)]?.[0] ?? null;
}

/**
 * A connection to one node of a cluster. When it breaks it ends for good and fails what was sent on it: so whatever is
 * answered on it comes from one life of one node.
 */
export function connectToNode(node: string, kind: OneLife = 'commands'): Redis {
  const colon = node.lastIndexOf(':');
  const [host, port] = [node.slice(0, colon), Number(node.slice(colon + 1))];
  return distrusting(new Redis({ ...oneLife[kind], host, port }));
}

/** As `connectToNode`, to the one Redis of an address. */
export function connectOnce(address: SingleAddress, kind: OneLife = 'commands'): Redis {
  return distrusting(openSingle(address, oneLife[kind]));
}

/** The options of the library that are used here, without `undefined`. */
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

/** Each new connection asks the sentinels where the primary is. */
function openSingle({ url, sentinels }: SingleAddress, options: SingleOptions): Redis {
  if (sentinels === undefined) return new Redis(url, options);
  return new Redis({
    ...options,
    sentinels: sentinels.hosts.map((host) => ({ ...host })),
    name: sentinels.name,
    sentinelRetryStrategy: options.retryStrategy,
  });
}

/** Callers of `commands` have time limits of their own, since what they wait for may take longer than any silence. */
type OneLife = 'commands' | 'subscriber';

const commandsOnce = { protocol: 2 as const, retryStrategy: () => null, connectTimeout: 2_000 };

const oneLife = { commands: commandsOnce, subscriber: { ...commandsOnce, socketTimeout: redisSilenceMs } };
