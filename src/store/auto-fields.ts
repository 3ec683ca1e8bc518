/**
 * Field types of auto-indexed entity types. The first value that is not null decides a field's type, once and for
 * all workers (contract section 2), so the decision is a write that only the first one makes.
 */
import type { FieldType } from '../search/types.ts';
import { storeError } from './connection.ts';
import { keys } from './keys.ts';
import type { Store } from './store.ts';

/** Says that the type exists, with or without fields; property names never hold an asterisk. */
const marker = '*';
const fieldsPerCall = 500;

interface KnownType {
  readonly fields: Map<string, FieldType>;
}

export class AutoFields {
  readonly #types = new Map<string, KnownType>();

  constructor(private readonly store: Store) {}

  /** What this process has learnt so far; null when it has not met the type. */
  known(tenant: string, sourceId: string, type: string): ReadonlyMap<string, FieldType> | null {
    return this.#types.get(nameOf(tenant, sourceId, type))?.fields ?? null;
  }

  /**
   * Decides the types of fields that have none, and that the entity type exists.
   * @returns the decided types, those of all candidates among them; no Redis is asked when all are known
   * @throws StoreUnavailableError
   */
  async decide(
    tenant: string,
    sourceId: string,
    type: string,
    candidates: ReadonlyMap<string, FieldType>,
  ): Promise<ReadonlyMap<string, FieldType>> {
    const known = this.#types.get(nameOf(tenant, sourceId, type));
    const missing =
      known === undefined ? [...candidates] : [...candidates].filter(([field]) => !known.fields.has(field));
    if (known !== undefined && missing.length === 0) return known.fields;
    const key = this.#key(tenant, sourceId, type);
    try {
      await this.#claim(key, [[marker, 'object'], ...missing]);
      if (known === undefined) return (await this.read(tenant, sourceId, type)) ?? new Map();
      await this.#learn(
        key,
        known,
        missing.map(([field]) => field),
      );
      return known.fields;
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * All fields as Redis has them now; null when the entity type was never seen. Fields are only ever added, so an
   * unchanged count means an unchanged map and the fields need not be sent again. @throws StoreUnavailableError
   */
  async read(tenant: string, sourceId: string, type: string): Promise<ReadonlyMap<string, FieldType> | null> {
    const name = nameOf(tenant, sourceId, type);
    const key = this.#key(tenant, sourceId, type);
    try {
      const known = this.#types.get(name);
      const count = await this.store.client.hlen(key);
      if (count === 0) {
        this.#types.delete(name);
        return null;
      }
      if (known !== undefined && known.fields.size === count - 1) return known.fields;
      const fields = decodeFields(await this.store.client.hgetall(key));
      this.#types.set(name, { fields });
      return fields;
    } catch (error) {
      throw storeError(error);
    }
  }

  async #claim(key: string, types: readonly (readonly [string, FieldType])[]): Promise<void> {
    for (let at = 0; at < types.length; at += fieldsPerCall) {
      const portion = types.slice(at, at + fieldsPerCall);
      await Promise.all(portion.map(([field, type]) => this.store.client.hsetnx(key, field, type)));
    }
  }

  async #learn(key: string, known: KnownType, fields: readonly string[]): Promise<void> {
    for (let at = 0; at < fields.length; at += fieldsPerCall) {
      const portion = fields.slice(at, at + fieldsPerCall);
      const types = await this.store.client.hmget(key, ...portion);
      portion.forEach((field, index) => {
        const type = types[index];
        if (type) known.fields.set(field, type as FieldType);
      });
    }
  }

  #key(tenant: string, sourceId: string, type: string): string {
    const name = nameOf(tenant, sourceId, type);
    return keys.autoFields(
      this.store.partitions.tag(this.store.partitions.ofText(name)),
      tenant,
      sourceId,
      type,
    );
  }
}

/** Tenants and source ids never hold a colon. */
function nameOf(tenant: string, sourceId: string, type: string): string {
  return `${tenant}:${sourceId}:${type}`;
}

function decodeFields(stored: Record<string, string>): Map<string, FieldType> {
  const fields = new Map(Object.entries(stored) as [string, FieldType][]);
  fields.delete(marker);
  return fields;
}
