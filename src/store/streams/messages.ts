/**
 * Requests between processes over Redis Streams: one stream of requests per worker, one of replies per front.
 * What is sent within one turn of the event loop travels as one packed entry per process. So hundreds of thousands of
 * messages a second are possible; an entry for each message would cost four times as much.
 *
 * Nothing here is sent twice on purpose, and nothing is promised: a request ends with its reply or as lost.
 */

import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { writeAnyway } from '../redis/write-anyway.ts';
import type { RedisHost } from '../store.ts';
import type { MessageBody, Reply } from './message-body.ts';
import { OwnStream, packedField } from './own-stream.ts';
import { PendingReplies } from './pending-replies.ts';

/** Entries that an unread stream holds before the oldest are dropped; their requests end at their deadlines. */
const entriesKept = 4096;
/** An entry holds at least one message, and takes no further one beyond this size. */
const entryBytesMax = 4 * 1024 * 1024;
type RequestMessage = [replyTo: string, number: number, timeoutMs: number, body: MessageBody];
type ReplyMessage = [number: number, body: MessageBody];

/** Gathers messages until the turn of the event loop ends, then adds one entry to each stream. */
class Outbox<Message> {
  readonly #waiting = new Map<string, { message: Message; bytes: number }[]>();
  #scheduled = false;
  entriesSent = 0;

  constructor(
    private readonly host: RedisHost,
    private readonly onLost: (message: Message, reason: 'gone' | 'unavailable') => void,
  ) {}

  /** @param bytes about how large it is. */
  put(key: string, message: Message, bytes: number): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) this.#waiting.set(key, [{ message, bytes }]);
    else waiting.push({ message, bytes });
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [key, messages] of waiting) {
      let entry: Message[] = [];
      let entryBytes = 0;
      for (const { message, bytes } of messages) {
        if (entry.length > 0 && entryBytes + bytes > entryBytesMax) {
          void this.#add(key, entry);
          entry = [];
          entryBytes = 0;
        }
        entry.push(message);
        entryBytes += bytes;
      }
      void this.#add(key, entry);
    }
  }

  async #add(key: string, entry: Message[]): Promise<void> {
    this.entriesSent += 1;
    try {
      // Gathered already: the client's own pipelining would only cost time.
      const words = ['NOMKSTREAM', 'MAXLEN', '~', entriesKept, '*', packedField, pack(entry)];
      const id = await writeAnyway(this.host.client, 'XADD', key, words);
      if (id !== null) return;
      for (const message of entry) this.onLost(message, 'gone');
    } catch {
      for (const message of entry) this.onLost(message, 'unavailable');
    }
  }
}

/** The asking side. */
export class RequestSender {
  readonly #outbox: Outbox<RequestMessage>;
  readonly #replies: OwnStream;
  readonly #pending = new PendingReplies<MessageBody>();

  constructor(
    host: RedisHost,
    private readonly processId: string,
  ) {
    this.#outbox = new Outbox(host, ([, number], reason) =>
      this.#pending.settle(number, { kind: 'lost', reason }),
    );
    this.#replies = new OwnStream(host, keys.replies(processId), (packed) => {
      for (const [number, body] of unpack<ReplyMessage[]>(packed))
        this.#pending.settle(number, { kind: 'answer', body });
    });
  }

  /** Resolves once replies can arrive. @throws when Redis does not answer */
  start(): Promise<void> {
    return this.#replies.start();
  }

  /** Entries added to request streams so far; far fewer than requests when they share them. */
  get entriesSent(): number {
    return this.#outbox.entriesSent;
  }

  /** Asks a process. Always resolves, at the latest when the time is over. */
  ask(processId: string, body: MessageBody, timeoutMs: number): Promise<Reply> {
    const send = (number: number) =>
      this.#outbox.put(keys.requests(processId), [this.processId, number, timeoutMs, body], bodyBytes(body));
    return new Promise((resolve) => this.#pending.ask(timeoutMs, send, resolve));
  }

  async close(): Promise<void> {
    this.#pending.loseAll('closed');
    await this.#replies.close();
  }
}

export interface InboundRequest {
  readonly body: MessageBody;
  /** On the clock of `performance.now()`; after it nobody waits for the reply. */
  readonly deadlineMs: number;
  reply(body: MessageBody): void;
}

/** The answering side: hands over requests that somebody still waits for. */
export class RequestReceiver {
  readonly #outbox: Outbox<ReplyMessage>;
  readonly #requests: OwnStream;
  #stale = 0;

  constructor(
    host: RedisHost,
    processId: string,
    private readonly onRequest: (request: InboundRequest) => void,
  ) {
    this.#outbox = new Outbox(host, () => {});
    this.#requests = new OwnStream(host, keys.requests(processId), (packed, ageMs) => {
      for (const message of unpack<RequestMessage[]>(packed)) this.#take(message, ageMs);
    });
  }

  /** Resolves once requests can arrive. @throws when Redis does not answer */
  start(): Promise<void> {
    return this.#requests.start();
  }

  /** Requests that came too late to be worked on. */
  get stale(): number {
    return this.#stale;
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  #take([replyTo, number, timeoutMs, body]: RequestMessage, ageMs: number): void {
    if (ageMs >= timeoutMs) {
      this.#stale += 1;
      return;
    }
    this.onRequest({
      body,
      deadlineMs: performance.now() + timeoutMs - ageMs,
      reply: (answer) => this.#outbox.put(keys.replies(replyTo), [number, answer], bodyBytes(answer)),
    });
  }
}

/** About how many bytes a body takes; enough to keep entries from growing without bound. */
function bodyBytes(body: MessageBody): number {
  if (typeof body === 'string') return body.length;
  if (typeof body !== 'object' || body === null) return 8;
  if (body instanceof Uint8Array) return body.length;
  let bytes = 8;
  for (const part of body) bytes += bodyBytes(part);
  return bytes;
}
