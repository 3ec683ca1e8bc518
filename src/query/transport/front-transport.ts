/**
 * A front's connections to the workers: over a Unix domain socket if the worker is on the same machine, otherwise over TCP.
 * Requests are sent at most once: each ends with its reply or as lost.
 */
import { hostname } from 'node:os';
import { transportKey } from './handshake.ts';
import { isLoopback } from './listen-address.ts';
import type { LiveWorker, MessageBody, Reply } from './messages.ts';
import { type SocketAddress, WorkerConnection } from './worker-connection.ts';

const tickMs = 1_000;
/** Pause after a failed connection attempt. */
const retryMs = 250;

interface Failure {
  readonly problem: string;
  readonly untilMs: number;
}

export class FrontTransport {
  readonly #key: Buffer;
  readonly #host = hostname();
  #workers: readonly LiveWorker[] = [];
  readonly #connections = new Map<string, WorkerConnection>();
  /** The last failed connection attempt, by id of the worker. */
  readonly #failures = new Map<string, Failure>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** @param secret of the store */
  constructor(secret: Buffer) {
    this.#key = transportKey(secret);
  }

  /** Keeps a connection to each of these workers, and closes others. */
  follow(workers: readonly LiveWorker[]): void {
    if (this.#isClosed) return;
    this.#workers = workers;
    const ids = new Set(workers.map(({ id }) => id));
    for (const id of this.#failures.keys()) if (!ids.has(id)) this.#failures.delete(id);
    for (const [id, connection] of this.#connections) if (!ids.has(id)) connection.close();
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
    for (const worker of workers) this.#connectionTo(worker);
  }

  /**
   * Sends a request to a worker, once the connection is open.
   * @param onEnd called once with the reply, or with a loss at the latest after the timeout
   * @returns false if the worker cannot be reached now; nothing is sent then
   */
  send(worker: LiveWorker, body: MessageBody, timeoutMs: number, onEnd: (reply: Reply) => void): boolean {
    return this.#connectionTo(worker)?.send(body, timeoutMs, onEnd) ?? false;
  }

  /** Each worker that cannot be reached, and why. */
  get unreachable(): string[] {
    return this.#workers.flatMap(({ id }) => {
      const failure = this.#failures.get(id);
      return failure === undefined ? [] : [`worker ${id}: ${failure.problem}`];
    });
  }

  /** Ends all requests in progress as lost. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const connection of this.#connections.values()) connection.close();
  }

  #tick(): void {
    for (const worker of this.#workers) this.#connectionTo(worker)?.turn();
  }

  #connectionTo(worker: LiveWorker): WorkerConnection | null {
    return this.#connections.get(worker.id) ?? this.#connect(worker);
  }

  #connect(worker: LiveWorker): WorkerConnection | null {
    const { id } = worker;
    if (this.#isClosed || performance.now() < (this.#failures.get(id)?.untilMs ?? 0)) return null;
    const addresses = this.#addressesOf(worker);
    if (addresses.length === 0) {
      this.#fail(id, noAddress(worker));
      return null;
    }
    const connection = new WorkerConnection({
      key: this.#key,
      workerId: id,
      addresses,
      onOpen: () => this.#failures.delete(id),
      onEnd: (problem) => {
        this.#connections.delete(id);
        if (problem !== null) this.#fail(id, problem);
      },
    });
    this.#connections.set(id, connection);
    return connection;
  }

  #fail(id: string, problem: string): void {
    this.#failures.set(id, { problem, untilMs: performance.now() + retryMs });
  }

  /** Paths and loopback addresses are only valid on the worker's own machine. */
  #addressesOf({ host, addresses }: LiveWorker): SocketAddress[] {
    if (addresses === null) return [];
    const { socketPath, tcp } = addresses;
    const isHere = host === this.#host;
    return [
      ...(socketPath !== null && isHere ? [{ path: socketPath }] : []),
      ...(tcp !== null && (isHere || !isLoopback(tcp.host)) ? [tcp] : []),
    ];
  }
}

function noAddress({ host, addresses }: LiveWorker): string {
  return addresses === null
    ? 'it announces no address for queries, as workers of another version do'
    : `it accepts queries only from fronts on its own machine, ${host}: set WORKER_HOST there`;
}
