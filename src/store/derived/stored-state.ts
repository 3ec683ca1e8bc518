/** Reads raw fields and members of many keys in few round trips, to compare them with what should be stored. */
import { storeError } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

export class StoredState {
  /** Key -> field -> value; null if missing. */
  readonly #fields = new Map<string, Map<string, Buffer | null>>();
  readonly #members = new Map<string, Map<string, boolean>>();
  readonly #sortedMembers = new Map<string, Map<string, boolean>>();

  constructor(private readonly store: Store) {}

  requestField(key: string, field: string): void {
    put(this.#fields, key, field, null);
  }

  /** Requests a member of a hash without values. */
  requestMember(key: string, member: string): void {
    put(this.#members, key, member, false);
  }

  /** Requests a member of a sorted set. */
  requestSortedMember(key: string, member: string): void {
    put(this.#sortedMembers, key, member, false);
  }

  /** Reads everything that was requested. @throws StoreUnavailableError */
  async load(): Promise<void> {
    const { client } = this.store;
    try {
      await Promise.all([
        ...[...this.#fields].map(async ([key, values]) => {
          const fields = [...values.keys()];
          const found = await client.hmgetBuffer(key, ...fields);
          fields.forEach((field, index) => {
            values.set(field, found[index] ?? null);
          });
        }),
        ...[...this.#members].map(async ([key, values]) => {
          const members = [...values.keys()];
          const found = await client.hmget(key, ...members);
          members.forEach((member, index) => {
            values.set(member, typeof found[index] === 'string');
          });
        }),
        ...[...this.#sortedMembers].map(async ([key, values]) => {
          const members = [...values.keys()];
          const scores = await client.zmscore(key, ...members);
          members.forEach((member, index) => {
            values.set(member, scores[index] !== null);
          });
        }),
      ]);
    } catch (error) {
      throw storeError(error);
    }
  }

  /** Null if nothing is stored. */
  field(key: string, field: string): Buffer | null {
    return this.#fields.get(key)?.get(field) ?? null;
  }

  hasMember(key: string, member: string): boolean {
    return this.#members.get(key)?.get(member) ?? false;
  }

  hasSortedMember(key: string, member: string): boolean {
    return this.#sortedMembers.get(key)?.get(member) ?? false;
  }
}

function put<T>(map: Map<string, Map<string, T>>, key: string, name: string, value: T): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, new Map([[name, value]]));
  else values.set(name, value);
}
