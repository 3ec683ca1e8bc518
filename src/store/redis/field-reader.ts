/**
 * Batches reads of hash fields: all reads in one turn of the event loop become one command per hash. A page reads five fields,
 * and a busy front serves dozens of pages in a turn.
 */
import type { RedisClient } from './redis-connection.ts';
import { answerOf, storeError } from './redis-errors.ts';
import { readFields, sendRaw } from './send.ts';

export interface HashField {
  readonly key: string;
  readonly field: string;
}

/** Maximum fields of a command, because it blocks Redis. */
const fieldsPerCommand = 256;

/** The pending read of one caller. */
interface Asked {
  readonly values: (Buffer | null)[];
  left: number;
  readonly resolve: (values: (Buffer | null)[]) => void;
  readonly reject: (error: Error) => void;
}

/** Sends a command after the reads requested before. Replies as `sendRaw` does. */
export type SendBehind = (name: string, words: readonly (string | number)[]) => Promise<unknown>;

/** One command: fields of one hash, and their callers. */
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
  /** Portions to send at the end of this turn. Of several for one hash, only the last may have room. */
  #portions: Portion[] = [];
  #open = new Map<string, Portion>();
  /** Functions to call after sending the portions. */
  #behind: ((send: SendBehind) => void)[] = [];
  #isScheduled = false;

  constructor(private readonly client: RedisClient) {}

  /** Values in the order given; null for missing ones. @throws StoreUnavailableError */
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

  /** Calls `act` after all reads requested so far are sent. Its argument sends a command after them. */
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
