/**
 * Field types of auto-indexed entity types. The first value that is not null decides a field's type, once and for all
 * workers (docs/reference/indexes-and-queries.md "Auto-indexed source groups"), so the decision is a write that only
 * the first one makes. A date field that gets another text becomes text; each type counts how often that was (`retypings`), so that
 * everybody can tell what they know from what is so.
 *
 * Every field is a column, and every type an index, in the memory of all workers; the names of both come from the
 * sources. So the fields of a type are bounded, and so are the types and fields of a source. What comes later is not
 * indexed. All workers agree on that, because Redis decides it in the same step. For this, all types of a source lie in
 * one slot.
 */
import type { Configuration } from '../../config/configuration.ts';
import { autoFieldsMax, autoIndexedNamesMax } from '../../contract/limits.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { isNews } from '../../search/fields/shown-fields.ts';
import { scanKeyNames } from '../derived/keyspace.ts';
import { keys } from '../keys.ts';
import { answerOf, storeError } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';

const decide = new Script<number>('entities/decide', 2);
const decideOutcome = { typeRefused: 0, someRefused: 2 } as const;

/** Says that the type exists, with or without fields, and how many were retyped; no field has this name. */
const marker = '*';
/** A script holds up all other commands while it runs. */
const fieldsPerCall = 500;

interface KnownType {
  readonly fields: Map<string, FieldType>;
  /** `fields` are all that the type will ever have. */
  readonly isFull: boolean;
  /** How many fields got another type. */
  readonly retypings: number;
}

export class AutoFields {
  readonly #types = new Map<string, KnownType>();

  constructor(private readonly store: Store) {}

  /** What this process has learnt so far; null when it has not met the type. */
  known(tenant: string, sourceId: string, type: string): ReadonlyMap<string, FieldType> | null {
    return this.#types.get(nameOf(tenant, sourceId, type))?.fields ?? null;
  }

  /** How many fields of a type got another type, as far as this process has learnt. */
  retypings(tenant: string, sourceId: string, type: string): number {
    return this.#types.get(nameOf(tenant, sourceId, type))?.retypings ?? 0;
  }

  /** True for a type that this process knows to have no room for another field. */
  isFull(tenant: string, sourceId: string, type: string): boolean {
    return this.#types.get(nameOf(tenant, sourceId, type))?.isFull === true;
  }

  /**
   * Decides the types of fields that have none or get another, and that the entity type exists. In the order of the candidates: those
   * at the end are left out when there is no room (`autoFieldsMax`, `autoIndexedNamesMax`).
   * @returns the decided types, or null when there is no room for the entity type; Redis is not asked when there is
   * nothing to decide
   * @throws StoreUnavailableError
   */
  async decide(
    tenant: string,
    sourceId: string,
    type: string,
    candidates: ReadonlyMap<string, FieldType>,
  ): Promise<ReadonlyMap<string, FieldType> | null> {
    const name = nameOf(tenant, sourceId, type);
    const known = this.#types.get(name);
    const missing = [...candidates].filter(
      (field) => isNews(field, known?.fields ?? null) && !(known?.isFull && !known.fields.has(field[0])),
    );
    if (known !== undefined && missing.length === 0) return known.fields;
    // If a failover took the decision back, another process could decide otherwise.
    const outcome = await surviving(this.store.replication, [this.#tag(tenant, sourceId)], () =>
      this.#claim(tenant, sourceId, type, missing),
    );
    if (outcome === decideOutcome.typeRefused) return null;
    const fields = await this.read(tenant, sourceId, type);
    const read = this.#types.get(name);
    if (read !== undefined && outcome === decideOutcome.someRefused) {
      this.#types.set(name, { ...read, isFull: true });
    }
    return fields;
  }

  /**
   * All fields as Redis has them now; null when the entity type was never seen. Fields are only ever added or retyped, so
   * unchanged counts mean an unchanged map and the fields need not be sent again. @throws StoreUnavailableError
   */
  async read(tenant: string, sourceId: string, type: string): Promise<ReadonlyMap<string, FieldType> | null> {
    const name = nameOf(tenant, sourceId, type);
    const key = keys.autoFields(this.#tag(tenant, sourceId), tenant, sourceId, type);
    try {
      const known = this.#types.get(name);
      const { client } = this.store;
      const [count, marked] = await Promise.all([client.hlen(key), client.hget(key, marker)]);
      if (count === 0) {
        this.#types.delete(name);
        return null;
      }
      const isSame = known?.fields.size === count - 1 && known.retypings === retypingsIn(marked);
      if (known !== undefined && isSame) return known.fields;
      const stored = await client.hgetall(key);
      const fields = decodeFields(stored);
      const isFull = known?.isFull === true && known.fields.size === fields.size;
      this.#types.set(name, { fields, isFull, retypings: retypingsIn(stored[marker]) });
      return fields;
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Those of `types` that do not exist and cannot come to be, because their source has no room. @throws
   * StoreUnavailableError
   */
  async typesWithoutRoom(
    tenant: string,
    sourceId: string,
    types: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const tag = this.#tag(tenant, sourceId);
    const { client } = this.store;
    try {
      const taken = Number((await client.get(keys.autoIndexed(tag, tenant, sourceId))) ?? 0);
      if (taken < autoIndexedNamesMax) return new Set();
      const known = await Promise.all(
        types.map((type) => client.exists(keys.autoFields(tag, tenant, sourceId, type))),
      );
      return new Set(types.filter((_, index) => known[index] === 0));
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Forgets in this process what it learnt of sources that came or went with a configuration: what was purged in between
   * is decided again.
   */
  forgetChanged(current: Configuration, former: Configuration | null): void {
    const has = (configuration: Configuration | null, tenant: string, sourceId: string) =>
      configuration?.tenants.get(tenant)?.sources.has(sourceId) === true;
    for (const name of this.#types.keys()) {
      const [tenant = '', sourceId = ''] = name.split(':');
      if (!has(former, tenant, sourceId) || !has(current, tenant, sourceId)) this.#types.delete(name);
    }
  }

  /**
   * Removes what is decided for a source that no configuration has any more, if it lies in the partition with the tag.
   * @returns number of entity types and fields. @throws StoreUnavailableError
   */
  async forgetDecided(tag: string, tenant: string, sourceId: string): Promise<number> {
    if (tag !== this.#tag(tenant, sourceId)) return 0;
    let forgotten = 0;
    try {
      for await (const names of scanKeyNames(this.store, keys.autoFields(tag, tenant, sourceId, '*'))) {
        for (const name of names) {
          forgotten += await this.store.client.hlen(name);
          await this.store.client.del(name);
        }
      }
      await this.store.client.del(keys.autoIndexed(tag, tenant, sourceId));
    } catch (error) {
      throw storeError(error);
    }
    return forgotten;
  }

  /** Whether anything is decided for a source. @throws StoreUnavailableError */
  async hasDecided(tenant: string, sourceId: string): Promise<boolean> {
    const key = keys.autoIndexed(this.#tag(tenant, sourceId), tenant, sourceId);
    return (await answerOf(this.store.client.exists(key))) === 1;
  }

  /** @returns the worst outcome of all portions */
  async #claim(
    tenant: string,
    sourceId: string,
    type: string,
    fields: readonly (readonly [string, FieldType])[],
  ): Promise<number> {
    const tag = this.#tag(tenant, sourceId);
    const scriptKeys = [
      keys.autoFields(tag, tenant, sourceId, type),
      keys.autoIndexed(tag, tenant, sourceId),
    ];
    let worst: number = decideOutcome.typeRefused;
    // One portion at least: a type without any field has to be decided too.
    for (let at = 0; at === 0 || at < fields.length; at += fieldsPerCall) {
      const portion = fields.slice(at, at + fieldsPerCall);
      const scriptArguments = [autoFieldsMax, autoIndexedNamesMax, marker, ...portion.flat()];
      const outcome = await decide.run(this.store.client, scriptKeys, scriptArguments);
      worst = Math.max(worst, outcome);
      if (outcome !== 1) break;
    }
    return worst;
  }

  #tag(tenant: string, sourceId: string): string {
    const { partitions } = this.store;
    return partitions.tag(partitions.ofText(`${tenant}:${sourceId}`));
  }
}

/** Tenants and source ids never hold a colon. */
function nameOf(tenant: string, sourceId: string, type: string): string {
  return `${tenant}:${sourceId}:${type}`;
}

/** @param marked value of the marker */
function retypingsIn(marked: string | null | undefined): number {
  const retypings = Number(marked ?? 0);
  return Number.isInteger(retypings) ? retypings : 0;
}

/** What a hash of `keys.autoFields` holds. */
export function decodeFields(stored: Record<string, string>): Map<string, FieldType> {
  const fields = new Map(Object.entries(stored) as [string, FieldType][]);
  fields.delete(marker);
  return fields;
}

/** The decided field types of an auto-indexed entity type: what a backup keeps of `AutoFields`. */
export interface AutoFieldTypes {
  readonly tenant: string;
  readonly sourceId: string;
  readonly type: string;
  /** Empty for a type whose entities never had a field. */
  readonly fields: ReadonlyMap<string, FieldType>;
}

/** An entity type may hold anything, a line feed too. */
const keyPattern = /^\{[^}]*\}:fields:([^:]*):([^:]*):(.*)$/s;

/** The types of every source, configured or not. As with SCAN, one may come twice. @throws StoreUnavailableError */
export async function* scanAutoFieldTypes(store: Store): AsyncGenerator<AutoFieldTypes> {
  for await (const names of scanKeyNames(store, '{p*}:fields:*')) {
    for (const name of names) {
      const [, tenant, sourceId, type] = keyPattern.exec(name) ?? [];
      if (tenant === undefined || sourceId === undefined || type === undefined) continue;
      const stored = await store.client.hgetall(name).catch((error) => {
        throw storeError(error);
      });
      yield { tenant, sourceId, type, fields: decodeFields(stored) };
    }
  }
}
