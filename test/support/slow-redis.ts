/** A proxy between processes and their Redis that can delay, stall and break connections. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A connection of a client, and the one to Redis that belongs to it. */
export interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

export class SlowRedis {
  protected readonly pairs = new Set<Pair>();
  readonly #forgotten = new WeakSet<Pair>();
  #isStalled = false;
  #delayMs = 0;

  protected constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** @param target port of the real Redis */
  static async start(target: () => number): Promise<SlowRedis> {
    return await SlowRedis.listen(target, (server, port) => new SlowRedis(server, port));
  }

  protected static async listen<Proxy extends SlowRedis>(
    target: () => number,
    make: (server: Server, port: number) => Proxy,
  ): Promise<Proxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const wire = make(server, address.port);
    server.on('connection', (near) => wire.#join(near, target()));
    return wire;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Blocks all data in both directions; connections stay open. */
  stall(): void {
    this.#isStalled = true;
    for (const { near, far } of this.pairs) {
      near.pause();
      far.pause();
    }
  }

  resume(): void {
    this.#isStalled = false;
    for (const pair of this.pairs) {
      if (this.#forgotten.has(pair)) continue;
      pair.near.resume();
      pair.far.resume();
    }
  }

  /** Sets the added latency in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /**
   * Existing connections stay open but transfer nothing; new ones work.
   * @returns delivers what they hold, even if the client has closed them since
   */
  forgetAll(): () => void {
    const forgotten = [...this.pairs];
    for (const pair of forgotten) {
      pair.near.pause();
      pair.far.pause();
      this.#forgotten.add(pair);
    }
    return () => {
      for (const pair of forgotten) {
        this.#forgotten.delete(pair);
        pair.near.resume();
        pair.far.resume();
      }
    };
  }

  /** Refuses new connections; existing ones stay. */
  refuse(): void {
    this.server.close();
  }

  /** Accepts connections again. */
  async accept(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
  }

  /** Breaks every connection; new ones are accepted. */
  breakAll(): void {
    for (const { near, far } of this.pairs) {
      reset(near);
      reset(far);
    }
  }

  async stop(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #join(near: Socket, target: number): void {
    const far = connect(target, '127.0.0.1');
    const pair = { near, far };
    this.pairs.add(pair);
    const part = () => {
      this.pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', part);
      socket.on('close', part);
    }
    this.pass(near, far);
    this.passBack(pair, part);
    if (this.#isStalled) {
      near.pause();
      far.pause();
    }
  }

  /** Passes on what Redis sends. @param _part breaks the connection */
  protected passBack({ near, far }: Pair, _part: () => void): void {
    this.pass(far, near);
  }

  protected pass(from: Socket, to: Socket): void {
    let last = Promise.resolve();
    from.on('data', (bytes) => {
      if (this.#delayMs === 0) {
        // After data that is still in transit.
        last = last.then(() => void to.write(bytes));
        return;
      }
      const arrival = sleep(this.#delayMs);
      last = last.then(() => arrival).then(() => void to.write(bytes));
    });
  }
}

/**
 * A connection that is ending cannot be reset: Node 20 would treat it as closed, and wait for it forever when the process ends.
 */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
