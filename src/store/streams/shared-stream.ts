/** One of the streams that are read together (`shared-streams.ts`), with its position and the entries read ahead. */
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import type { StreamConnection, StreamReply } from './stream-connection.ts';

type Entry = NonNullable<StreamReply>[number][1][number];

/** With this many entries read ahead, the stream is not read further until its reader has taken some. */
const entriesAheadMax = 400;

interface Waiting {
  readonly count: number;
  readonly endsMs: number;
  readonly resolve: (reply: StreamReply) => void;
  readonly reject: (error: Error) => void;
}

export class SharedStream implements StreamConnection {
  /** The next shared read continues after this id; null before the first read. */
  #readTo: string | null = null;
  /** Id of the last entry returned to the reader. */
  #takenTo: string | null = null;
  #ahead: Entry[] = [];
  #waiting: Waiting | null = null;
  /** Reject functions of the pending reads of the last id. */
  readonly #rejects = new Set<(error: Error) => void>();
  isOver = false;

  constructor(
    readonly key: string,
    private readonly source: {
      /** Called when the reader waits for entries. */
      onWait(): void;
      lastId(): Promise<string>;
      onClose(): void;
    },
  ) {}

  get hasRoom(): boolean {
    return this.#readTo !== null && this.#ahead.length < entriesAheadMax;
  }

  get place(): string {
    return this.#readTo ?? '0-0';
  }

  /** Deadline of the waiting reader, in ms of `performance.now()`. */
  get endsMs(): number {
    return this.#waiting?.endsMs ?? Number.POSITIVE_INFINITY;
  }

  read(place: string, count: number, blockMs: number): Promise<StreamReply> {
    if (this.isOver) return Promise.reject(closedError());
    if (place !== this.#takenTo) {
      this.#ahead = [];
      this.#takenTo = place;
      this.#readTo = place;
    }
    if (this.#ahead.length > 0) return Promise.resolve(this.#handOut(count));
    return new Promise((resolve, reject) => {
      this.#waiting = { count, endsMs: performance.now() + blockMs, resolve, reject };
      this.source.onWait();
    });
  }

  /** Also rejects on `close`, because a closed client that was waiting to reconnect never settles it. */
  lastId(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#rejects.add(reject);
      this.source
        .lastId()
        .then(resolve, reject)
        .finally(() => this.#rejects.delete(reject));
    });
  }

  close(): void {
    this.isOver = true;
    this.source.onClose();
    for (const reject of this.#rejects) reject(closedError());
    this.fail(closedError());
  }

  /**
   * Adds the entries that a read after `place` found. Two reads may run at a time, so only new entries are added. If the reader
   * has moved to another position since, they are dropped.
   */
  take(place: string, entries: readonly Entry[], nowMs: number): void {
    if (this.#readTo === null || sequenceOf(place) > sequenceOf(this.#readTo)) return;
    const known = sequenceOf(this.#readTo);
    const added = place === this.#readTo ? entries : entries.filter(([id]) => sequenceOf(id) > known);
    for (const entry of added) this.#ahead.push(entry);
    this.#readTo = added.at(-1)?.[0].toString() ?? this.#readTo;
    const waiting = this.#waiting;
    if (waiting === null || (this.#ahead.length === 0 && nowMs < waiting.endsMs)) return;
    this.#waiting = null;
    waiting.resolve(this.#ahead.length === 0 ? null : this.#handOut(waiting.count));
  }

  fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
  }

  #handOut(count: number): StreamReply {
    const entries = this.#ahead.splice(0, count);
    this.#takenTo = entries.at(-1)?.[0].toString() ?? this.#takenTo;
    return [[Buffer.from(this.key), entries]];
  }
}

function sequenceOf(id: string | Buffer): number {
  return Number.parseInt(id.toString(), 10);
}

function closedError(): StoreUnavailableError {
  return new StoreUnavailableError('the connection is closed');
}
