/**
 * A process of followers of a feed: `followers.ts HOST PORT KEY`. Its parent sends their number, and is notified when all of
 * them are up to date. Plain sockets that read into one buffer, because a client library would cost more than the front.
 *
 * For each change the parent is notified when each of a sample had it, one in `sampledEvery` in the order of arrival. The
 * others leave it in the buffers of the kernel until the parent allows them to read. Otherwise the front would wait for a
 * processor that this process uses, because reading 10,000 sockets costs more than writing them.
 */
import { connect } from 'node:net';

const [host = '', port = '', key = ''] = process.argv.slice(2);
const opensAtOnce = 100;
const opensEveryMs = 20;
const shared = Buffer.alloc(256 * 1024);
const sampledEvery = 20;
const changeMark = 'event: change';
const unsampled: Follower[] = [];
let wanted = 0;
let opened = 0;
let ready = 0;
let heardAtMs: number[] = [];
let readToEnd = 0;

class Follower {
  #isReady = false;
  readonly #isSampled;
  readonly #socket;

  constructor(number: number) {
    this.#isSampled = number % sampledEvery === sampledEvery - 1;
    if (!this.#isSampled) unsampled.push(this);
    const callback = (bytes: number, buffer: Uint8Array) => {
      this.#heard(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
      return true;
    };
    this.#socket = connect({ host, port: Number(port), onread: { buffer: shared, callback } });
    this.#socket.write(
      `GET /changes/v1?since=now&live=sse HTTP/1.1\r\nHost: ${host}\r\nX-Api-Key: ${key}\r\n\r\n`,
    );
    this.#socket.on('close', () => process.send?.({ error: 'a follower was disconnected' }));
    this.#socket.on('error', (error) => process.send?.({ error: error.message }));
  }

  read(): void {
    this.#socket.resume();
  }

  #heard(text: Buffer): void {
    if (!this.#isReady) this.#begin(text);
    else if (!text.includes(changeMark)) return;
    else if (this.#isSampled) recordReceived();
    else this.#rest();
  }

  #begin(text: Buffer): void {
    if (!text.includes('event: up-to-date')) return;
    this.#isReady = true;
    if (!this.#isSampled) this.#socket.pause();
    ready += 1;
    if (ready === wanted) process.send?.({ ready });
  }

  /** It has the change, and stops reading until it may again. */
  #rest(): void {
    this.#socket.pause();
    readToEnd += 1;
    if (readToEnd < unsampled.length) return;
    readToEnd = 0;
    process.send?.({ allHaveIt: true });
  }
}

function recordReceived(): void {
  heardAtMs.push(performance.timeOrigin + performance.now());
  if (heardAtMs.length < wanted - unsampled.length) return;
  process.send?.({ heardAtMs });
  heardAtMs = [];
}

setInterval(() => {
  for (let at = 0; at < opensAtOnce && opened < wanted; at += 1, opened += 1) new Follower(opened);
}, opensEveryMs);
process.on('message', (asked: number | 'read') => {
  if (asked === 'read') for (const follower of unsampled) follower.read();
  else wanted = asked;
});
process.on('disconnect', () => process.exit());
