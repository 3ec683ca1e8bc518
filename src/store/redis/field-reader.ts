/**
 * Reads of hash fields, gathered: whatever one turn of the event loop asks for goes to Redis as one command for each hash.
 * A page reads five fields, and a busy front answers dozens of pages in a turn.
 */
import type { RedisClient } from './redis-connection.ts';
import { answerOf, storeError } from './redis-errors.ts';
import { readFields, sendRaw } from './send.ts';

export interface HashField {
  readonly key: string;
  readonly field: string;
}

/** Fields of one command: Redis does nothing else meanwhile. */
const fieldsPerCommand = 256;

/** The pending read of one caller. */
interface Asked {
  readonly values: (Buffer | null)[];
  left: number;
  readonly resolve: (values: (Buffer | null)[]) => void;
  readonly reject: (error: Error) => void;
}

/** Sends a command after the reads that were asked for before. The reply is as `sendRaw` gives it. */
export type SendBehind = (name: string, words: readonly (string | number)[]) => Promise<unknown>;

/** One command: fields of one hash, and whose they are. */
class Portion {
  readonly fields: string[] = [];
  readonly #askers: Asked[] = [];
  readonly #places: number[] = [];

  constructor(readonly key: string) {}

  add(field: string, asked: Asked, place: number): void {
    this.fields.push(field);
    this.#askers.push(asked);
    this.#places.push(place);
  }

  send(client: RedisClient): void {
    readFields(client, this.key, this.fields).then(
      (values) => this.#settle(values),
      (error: unknown) => this.#fail(error),
    );
  }

  #settle(values: readonly (Buffer | null)[]): void {
    for (let at = 0; at < this.#askers.length; at += 1) {
      const asked = this.#askers[at];
      if (asked === undefined) continue;
      asked.values[this.#places[at] ?? 0] = values[at] ?? null;
      asked.left -= 1;
      if (asked.left === 0) asked.resolve(asked.values);
    }
  }

  #fail(error: unknown): void {
    const reason = storeError(error);
    for (const asked of this.#askers) asked.reject(reason);
  }
}

export class FieldReader {
  /** Portions that go out at the end of this turn. Of several for one hash the last one has room. */
  #portions: Portion[] = [];
  #open = new Map<string, Portion>();
  /** Functions to call when the portions are sent. */
  #behind: ((send: SendBehind) => void)[] = [];
  #isScheduled = false;

  constructor(private readonly client: RedisClient) {}

  /** Values in the order given, null where there is none. @throws StoreUnavailableError */
  read(wanted: readonly HashField[]): Promise<(Buffer | null)[]> {
    if (wanted.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const values = new Array<Buffer | null>(wanted.length).fill(null);
      const asked: Asked = { values, left: wanted.length, resolve, reject };
      for (let place = 0; place < wanted.length; place += 1) {
        const one = wanted[place];
        if (one !== undefined) this.#portionOf(one.key).add(one.field, asked, place);
      }
    });
  }

  /** Calls `act` when all reads asked for until now are sent. Its argument sends a command after them. */
  behind(act: (send: SendBehind) => void): void {
    this.#behind.push(act);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#send());
  }

  #portionOf(key: string): Portion {
    const open = this.#open.get(key);
    if (open !== undefined && open.fields.length < fieldsPerCommand) return open;
    this.#schedule();
    const portion = new Portion(key);
    this.#portions.push(portion);
    this.#open.set(key, portion);
    return portion;
  }

  #send(): void {
    const [portions, behind] = [this.#portions, this.#behind];
    this.#portions = [];
    this.#behind = [];
    this.#open = new Map();
    this.#isScheduled = false;
    const { client } = this;
    for (const portion of portions) portion.send(client);
    for (const act of behind) act((name, words) => answerOf(sendRaw(client, name, words)));
  }
}
