/**
 * A subscription that opens a new connection whenever one breaks or becomes silent. A subscriber sends no commands, so it would
 * never notice a dead connection. Therefore it sends pings, and an unanswered ping ends the connection (`redisSilenceMs`).
 */
import { Cluster, type Redis } from 'ioredis';
import { connectOnce, connectToNode, type RedisAddress, type RedisClient } from './redis-connection.ts';

const pingMs = 2_000;
const retryMs = 50;
const retryMsMax = 1_000;

export interface SubscriptionEvents {
  message(text: string): void;
  /** Messages are received from now on. Called for each new connection. */
  subscribed?(): void;
  /** No messages are received until `subscribed`. Also called for each failed attempt to connect. */
  lost?(): void;
}

export class Subscription {
  /** Null between two connections. */
  #client: Redis | null = null;
  readonly #pings: NodeJS.Timeout;
  #retry: NodeJS.Timeout | null = null;
  #failures = 0;
  #isClosed = false;

  constructor(
    private readonly host: { readonly client: RedisClient; readonly address: RedisAddress },
    private readonly channel: string,
    private readonly events: SubscriptionEvents,
  ) {
    this.#pings = setInterval(() => this.#ping(), pingMs);
    this.#connect();
  }

  /** Replaces the connection with a new one. */
  renew(): void {
    const client = this.#client;
    this.#client = null;
    client?.disconnect();
    if (this.#retry === null) this.#connectLater();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#pings);
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#client?.disconnect();
    this.#client = null;
  }

  #connect(): void {
    this.#retry = null;
    const client = this.#open();
    this.#client = client;
    if (client === null) {
      this.#lose();
      return;
    }
    client.on('message', (_channel: string, text: string) => {
      if (this.#client === client) this.events.message(text);
    });
    client.on('ready', () => {
      client.subscribe(this.channel).then(
        () => {
          if (this.#client !== client) return;
          this.#failures = 0;
          this.events.subscribed?.();
        },
        () => client.disconnect(),
      );
    });
    client.on('end', () => {
      if (this.#client === client) this.#lose();
    });
  }

  /** Null while no node of the cluster is known. A message reaches the subscribers of every node. */
  #open(): Redis | null {
    const { client, address } = this.host;
    if (address.kind === 'single') return connectOnce(address, 'subscriber');
    const nodes = client instanceof Cluster ? client.nodes('all') : [];
    const node = nodes[Math.floor(Math.random() * nodes.length)];
    return node === undefined
      ? null
      : connectToNode(`${node.options.host}:${node.options.port}`, 'subscriber');
  }

  #lose(): void {
    this.#client = null;
    this.#connectLater();
    this.events.lost?.();
  }

  #connectLater(): void {
    if (this.#isClosed) return;
    this.#failures += 1;
    this.#retry = setTimeout(() => this.#connect(), Math.min(retryMs * this.#failures, retryMsMax));
  }

  #ping(): void {
    if (this.#client?.status === 'ready') this.#client.ping().catch(() => {});
  }
}
