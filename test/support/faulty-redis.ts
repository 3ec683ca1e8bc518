/** A proxy to Redis that parses replies: it can replace them, send additional ones, and cut connections at any byte. */
import { type Pair, SlowRedis } from './slow-redis.ts';

/** Null passes a reply on unchanged. `bytes` replace it. `cutBehind` breaks the connection after that many bytes of it. */
export type Fault = { readonly bytes: Buffer } | { readonly cutBehind: number } | null;

export class FaultyRedis extends SlowRedis {
  /** Number of connections ever made. */
  joined = 0;
  /** Called for each complete reply. */
  fault: (reply: Buffer) => Fault = () => null;

  /** @param target port of the real Redis */
  static override async start(target: () => number): Promise<FaultyRedis> {
    return await SlowRedis.listen(target, (server, port) => new FaultyRedis(server, port));
  }

  /** Sends every client an unsolicited reply. */
  say(bytes: string): void {
    for (const { near } of this.pairs) near.write(bytes);
  }

  protected override passBack({ near, far }: Pair, part: () => void): void {
    this.joined += 1;
    const replies = new ReplySplitter();
    far.on('data', (bytes: Buffer) => {
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
    });
  }
}

/** Splits the data from Redis (RESP2) into complete replies. */
class ReplySplitter {
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
