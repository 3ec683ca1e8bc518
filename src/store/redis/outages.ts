/**
 * Reports when a Redis is lost and when it is back: once each, however long the outage is and whatever needs Redis
 * meanwhile.
 */
import { performance } from 'node:perf_hooks';
import { Cluster, type Redis } from 'ioredis';
import type { RedisHost } from '../store.ts';

const lookMs = 500;
/** A Redis that is alive answers sooner. */
const answerMs = 1_000;

export interface OutageEvents {
  /** @param redis `host:port` */
  lost(redis: string, reason: string): void;
  back(redis: string, afterMs: number): void;
}

interface Watched {
  readonly redis: Redis;
  readonly onClose: () => void;
  /** Since when it is lost; null while it answers. */
  lostMs: number | null;
  isAsked: boolean;
}

export class OutageWatch {
  readonly #watched = new Map<Redis, Watched>();
  readonly #timer: NodeJS.Timeout;

  /** @param hosts all masters of each are watched */
  constructor(
    private readonly hosts: readonly RedisHost[],
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
    const nodes = new Set(
      this.hosts.flatMap(({ client }) => (client instanceof Cluster ? client.nodes('master') : [client])),
    );
    // A node that the client of a cluster gave up reports nothing any more.
    for (const watched of this.#watched.values()) {
      if (!nodes.has(watched.redis) && watched.lostMs === null) this.#forget(watched);
    }
    for (const redis of nodes) this.#ask(this.#watched.get(redis) ?? this.#watch(redis));
  }

  #watch(redis: Redis): Watched {
    const onClose = () => this.#lose(watched, 'the connection was closed');
    const watched: Watched = { redis, onClose, lostMs: null, isAsked: false };
    // A cluster's client closes connections of its own accord.
    if (this.hosts.some(({ client }) => client === redis)) redis.on('close', onClose);
    this.#watched.set(redis, watched);
    return watched;
  }

  #forget(watched: Watched): void {
    watched.redis.off('close', watched.onClose);
    this.#watched.delete(watched.redis);
  }

  #ask(watched: Watched): void {
    if (watched.isAsked) return;
    watched.isAsked = true;
    const late = setTimeout(() => {
      // An answer that came while this process was busy is read first.
      setImmediate(() => setImmediate(() => this.#late(watched)));
    }, answerMs);
    watched.redis
      .ping()
      .then(
        () => this.#find(watched),
        (error: Error) => this.#lose(watched, error.message),
      )
      .finally(() => {
        clearTimeout(late);
        watched.isAsked = false;
      });
  }

  #late(watched: Watched): void {
    if (watched.isAsked) this.#lose(watched, `no answer for ${answerMs} ms`);
  }

  #lose(watched: Watched, reason: string): void {
    if (watched.lostMs !== null || !this.#watched.has(watched.redis)) return;
    watched.lostMs = performance.now();
    this.events.lost(nameOf(watched.redis), reason);
  }

  #find(watched: Watched): void {
    if (watched.lostMs === null || !this.#watched.has(watched.redis)) return;
    const afterMs = Math.round(performance.now() - watched.lostMs);
    watched.lostMs = null;
    this.events.back(nameOf(watched.redis), afterMs);
  }
}

function nameOf({ options: { host, port, path } }: Redis): string {
  return path ?? `${host}:${port}`;
}
