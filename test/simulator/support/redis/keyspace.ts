/** The keys of the simulated Redis and their values. */
import { ErrorReply } from './reply.ts';

export class SortedSet extends Map<string, number> {
  /** Members in order; ties by their bytes. */
  ordered(): [string, number][] {
    return [...this].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
  }
}

export class Stream {
  entries: { readonly id: StreamId; readonly fields: readonly string[] }[] = [];
  last: StreamId = [0, 0];
}

export type StreamId = readonly [ms: number, sequence: number];
type Value = string | Map<string, string> | SortedSet | string[] | Stream;

const wrongType = 'WRONGTYPE Operation against a key holding the wrong kind of value';

export class Keyspace {
  readonly #values = new Map<string, Value>();
  readonly #expiresAtMs = new Map<string, number>();
  /** Streams with new entries since this was last cleared. */
  readonly grown = new Set<string>();
  /** Keys that were written since this was last cleared. */
  readonly written = new Set<string>();

  constructor(private readonly nowMs: () => number) {}

  names(): string[] {
    return [...this.#values.keys()].filter((key) => this.has(key));
  }

  has(key: string): boolean {
    return this.#value(key) !== undefined;
  }

  text(key: string): string | undefined {
    const value = this.#value(key);
    if (value !== undefined && typeof value !== 'string') throw new ErrorReply(wrongType);
    return value;
  }

  setText(key: string, text: string): void {
    this.#expiresAtMs.delete(key);
    this.#values.set(key, text);
    this.written.add(key);
  }

  hash(key: string): Map<string, string> {
    const value = this.#value(key);
    if (value === undefined) return new Map();
    if (!(value instanceof Map) || value instanceof SortedSet) throw new ErrorReply(wrongType);
    return value as Map<string, string>;
  }

  sortedSet(key: string): SortedSet {
    const value = this.#value(key) ?? new SortedSet();
    if (!(value instanceof SortedSet)) throw new ErrorReply(wrongType);
    return value;
  }

  list(key: string): string[] {
    const value = this.#value(key) ?? [];
    if (!Array.isArray(value)) throw new ErrorReply(wrongType);
    return value;
  }

  /** Copies a list with its expiry, unless it is empty or the target exists. @returns whether it did */
  copyList(from: string, to: string): boolean {
    const list = this.list(from);
    if (list.length === 0 || this.has(to)) return false;
    this.keep(to, [...list]);
    const expiresAtMs = this.#expiresAtMs.get(from);
    if (expiresAtMs !== undefined) this.#expiresAtMs.set(to, expiresAtMs);
    return true;
  }

  /** Undefined if the key does not exist. Unlike other values, a stream may be empty. */
  stream(key: string): Stream | undefined {
    const value = this.#value(key);
    if (value !== undefined && !(value instanceof Stream)) throw new ErrorReply(wrongType);
    return value;
  }

  /** Stores a value that was changed; an empty one deletes the key. */
  keep(key: string, value: Exclude<Value, string>): void {
    const size = Array.isArray(value) ? value.length : value instanceof Stream ? 1 : value.size;
    const isEmpty = size === 0;
    if (isEmpty) this.remove(key);
    else this.#values.set(key, value);
    this.written.add(key);
  }

  remove(key: string): boolean {
    const was = this.has(key);
    this.written.add(key);
    this.#values.delete(key);
    this.#expiresAtMs.delete(key);
    return was;
  }

  expire(key: string, afterMs: number): boolean {
    if (!this.has(key)) return false;
    this.#expiresAtMs.set(key, this.nowMs() + afterMs);
    return true;
  }

  #value(key: string): Value | undefined {
    const expiresAtMs = this.#expiresAtMs.size === 0 ? undefined : this.#expiresAtMs.get(key);
    if (expiresAtMs !== undefined && expiresAtMs <= this.nowMs()) {
      this.#values.delete(key);
      this.#expiresAtMs.delete(key);
      this.written.add(key);
    }
    return this.#values.get(key);
  }
}
