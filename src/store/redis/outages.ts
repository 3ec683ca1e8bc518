/** Reports when a Redis is lost, and when it is back or replaced: once per outage, however long it lasts. */
import { performance } from 'node:perf_hooks';
import { Cluster, type Redis } from 'ioredis';
import type { RedisHost } from '../store.ts';
import { mastersOf } from './redis-connection.ts';

const lookMs = 500;
/** A live Redis replies sooner. */
const answerMs = 1_000;

export interface OutageEvents {
  /** @param redis `host:port`, or the name that the sentinels use */
  lost(redis: string, reason: string): void;
  back(redis: string, afterMs: number): void;
  /** Another node of the cluster serves the slots of the lost one. */
  replaced(redis: string, afterMs: number): void;
}

interface Watched {
  readonly name: string;
  /** A cluster client creates a new one for a node that it could not reach. */
  redis: Redis;
  readonly onClose: () => void;
  /** When it was lost, in ms of `performance.now()`; null while it replies. */
  lostMs: number | null;
  isAsked: boolean;
}

export class OutageWatch {
  readonly #watched = new Map<string, Watched>();
  readonly #timer: NodeJS.Timeout;

  /** @param host all its masters are watched */
  constructor(
    private readonly host: RedisHost,
    private readonly events: OutageEvents,
  ) {
    this.#timer = setInterval(() => this.#look(), lookMs);
    this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const watched of this.#watched.values()) this.#forget(watched);
  }

  #look(): void {
    const nodes = new Map(namedMasters(this.host));
    for (const watched of this.#watched.values()) {
      if (nodes.has(watched.name)) continue;
      if (watched.lostMs === null) this.#forget(watched);
      else if (!this.#servesSlots(watched.name)) this.#replace(watched, watched.lostMs);
    }
    for (const [name, redis] of nodes) this.#ask(this.#watch(name, redis));
  }

  #watch(name: string, redis: Redis): Watched {
    const known = this.#watched.get(name);
    if (known !== undefined) {
      if (known.redis !== redis) known.isAsked = false;
      known.redis = redis;
      return known;
    }
    const onClose = () => this.#lose(watched, 'the connection was closed');
    const watched: Watched = { name, redis, onClose, lostMs: null, isAsked: false };
    // Cluster clients close connections on their own.
    if (this.host.client === redis) redis.on('close', onClose);
    this.#watched.set(name, watched);
    return watched;
  }

  #forget(watched: Watched): void {
    watched.redis.off('close', watched.onClose);
    this.#watched.delete(watched.name);
  }

  /** According to the client. Until the failover, it drops and rediscovers the node repeatedly. */
  #servesSlots(name: string): boolean {
    const { client } = this.host;
    return client instanceof Cluster && client.slots.some((nodes) => nodes[0] === name);
  }

  #ask(watched: Watched): void {
    if (watched.isAsked) return;
    watched.isAsked = true;
    const { redis } = watched;
    const isCurrent = () => watched.redis === redis && this.#watched.get(watched.name) === watched;
    const late = setTimeout(() => {
      const isLate = () => isCurrent() && watched.isAsked;
      // First read replies that arrived while this process was busy.
      setImmediate(() => setImmediate(() => isLate() && this.#lose(watched, `no answer for ${answerMs} ms`)));
    }, answerMs);
    redis
      .ping()
      .then(
        () => isCurrent() && this.#find(watched),
        (error: Error) => isCurrent() && this.#lose(watched, error.message),
      )
      .finally(() => {
        clearTimeout(late);
        if (isCurrent()) watched.isAsked = false;
      });
  }

  #lose(watched: Watched, reason: string): void {
    if (watched.lostMs !== null) return;
    watched.lostMs = performance.now();
    this.events.lost(watched.name, reason);
  }

  #find(watched: Watched): void {
    if (watched.lostMs === null) return;
    const afterMs = Math.round(performance.now() - watched.lostMs);
    watched.lostMs = null;
    this.events.back(watched.name, afterMs);
  }

  #replace(watched: Watched, lostMs: number): void {
    this.#forget(watched);
    this.events.replaced(watched.name, Math.round(performance.now() - lostMs));
  }
}

function namedMasters({ client, address }: RedisHost): (readonly [name: string, redis: Redis])[] {
  const sentinels = address.kind === 'single' ? address.sentinels : undefined;
  return mastersOf(client).map((redis) => [sentinels?.name ?? nameOf(redis), redis]);
}

function nameOf({ options: { host, port, path } }: Redis): string {
  return path ?? `${host}:${port}`;
}
