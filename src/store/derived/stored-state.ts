/** Reads raw fields and members of many keys in few round trips, to compare them with what should be stored. */
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

export class StoredState {
  /** Key of a hash -> field -> value; null if missing. */
  readonly #fields = new Map<string, Map<string, Buffer | null>>();
  /** Key of a sorted set -> member -> whether it is there. */
  readonly #members = new Map<string, Map<string, boolean>>();

  constructor(private readonly store: Store) {}

  requestField(key: string, field: string): void {
    put(this.#fields, key, field, null);
  }

  /** Requests a member of a sorted set. */
  requestMember(key: string, member: string): void {
    put(this.#members, key, member, false);
  }

  /** Reads everything that was requested. @throws StoreUnavailableError */
  async load(): Promise<void> {
    const { client } = this.store;
    await answerOf(
      Promise.all([
        ...[...this.#fields].map(async ([key, values]) => {
          const fields = [...values.keys()];
          const found = await client.hmgetBuffer(key, ...fields);
          for (const [index, field] of fields.entries()) values.set(field, found[index] ?? null);
        }),
        ...[...this.#members].map(async ([key, values]) => {
          const members = [...values.keys()];
          const scores = await client.zmscore(key, ...members);
          for (const [index, member] of members.entries()) values.set(member, scores[index] !== null);
        }),
      ]),
    );
  }

  /** Null if nothing is stored. */
  field(key: string, field: string): Buffer | null {
    return this.#fields.get(key)?.get(field) ?? null;
  }

  hasMember(key: string, member: string): boolean {
    return this.#members.get(key)?.get(member) ?? false;
  }
}

function put<T>(map: Map<string, Map<string, T>>, key: string, name: string, value: T): void {
  map.set(key, (map.get(key) ?? new Map<string, T>()).set(name, value));
}
