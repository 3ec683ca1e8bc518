/** A proxy to Redis that parses replies: it can replace them, send additional ones, and cut connections at any byte. */
import { connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  readonly replies: ReplySplitter;
}

/** Null passes a reply on unchanged. `bytes` replace it. `cutBehind` breaks the connection after that many bytes of it. */
export type Fault = { readonly bytes: Buffer } | { readonly cutBehind: number } | null;

export class FaultyRedis {
  readonly #pairs = new Set<Pair>();
  #isStalled = false;
  /** Number of connections ever made. */
  joined = 0;
  /** Called for each complete reply. */
  fault: (reply: Buffer) => Fault = () => null;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** @param target port of the real Redis */
  static async start(target: number): Promise<FaultyRedis> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const wire = new FaultyRedis(server, address.port);
    server.on('connection', (near) => wire.#join(near, target));
    return wire;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Blocks all data in both directions; connections stay open. */
  stall(): void {
    this.#isStalled = true;
    this.#each(({ near, far }) => {
      near.pause();
      far.pause();
    });
  }

  resume(): void {
    this.#isStalled = false;
    this.#each(({ near, far }) => {
      near.resume();
      far.resume();
    });
  }

  /** Sends every client an unsolicited reply. */
  say(bytes: string): void {
    this.#each(({ near }) => near.write(bytes));
  }

  async stop(): Promise<void> {
    this.#each(({ near, far }) => {
      near.destroy();
      far.destroy();
    });
    await new Promise((resolve) => this.server.close(resolve));
  }

  #each(act: (pair: Pair) => void): void {
    for (const pair of [...this.#pairs]) act(pair);
  }

  #join(near: Socket, target: number): void {
    this.joined += 1;
    const far = connect(target, '127.0.0.1');
    const pair = { near, far, replies: new ReplySplitter() };
    this.#pairs.add(pair);
    const part = () => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', part);
      socket.on('close', part);
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes: Buffer) => this.#passBack(pair, bytes, part));
    if (this.#isStalled) {
      near.pause();
      far.pause();
    }
  }

  #passBack({ near, replies }: Pair, bytes: Buffer, part: () => void): void {
    for (const reply of replies.take(bytes)) {
      const fault = this.fault(reply);
      if (fault === null) {
        near.write(reply);
      } else if ('bytes' in fault) {
        near.write(fault.bytes);
      } else {
        near.end(reply.subarray(0, fault.cutBehind), part);
        return;
      }
    }
  }
}

/** Splits the data from Redis (RESP2) into complete replies. */
export class ReplySplitter {
  #rest = Buffer.alloc(0);

  take(bytes: Buffer): Buffer[] {
    const all = Buffer.concat([this.#rest, bytes]);
    const replies: Buffer[] = [];
    let at = 0;
    for (let end = endOfReply(all, at); end >= 0; end = endOfReply(all, at)) {
      replies.push(all.subarray(at, end));
      at = end;
    }
    this.#rest = all.subarray(at);
    return replies;
  }
}

/** End of the reply that begins at an offset; -1 while it is incomplete. */
function endOfReply(bytes: Buffer, at: number): number {
  const lineEnd = bytes.indexOf('\r\n', at);
  if (lineEnd < 0) return -1;
  const type = String.fromCharCode(bytes[at] ?? 0);
  let end = lineEnd + 2;
  if (type !== '$' && type !== '*') return end;
  const count = Number(bytes.toString('latin1', at + 1, lineEnd));
  if (type === '$') {
    end += count < 0 ? 0 : count + 2;
    return end <= bytes.length ? end : -1;
  }
  for (let item = 0; item < count; item += 1) {
    end = endOfReply(bytes, end);
    if (end < 0) return -1;
  }
  return end;
}
