/**
 * Field types of auto-indexed entity types. The first value that is not null decides a field's type for all workers
 * (docs/reference/indexes-and-queries.md "Auto-indexed source groups"), so the decision is a write that succeeds only once. A
 * date field that gets another string becomes text. Each entity type counts these changes (`retypings`).
 *
 * Every field is a column and every type an index in the memory of all workers, and sources choose their names. So there is a
 * limit on the fields of a type, and on the types and fields of a source. What exceeds it is not indexed. All workers agree
 * on that because Redis decides it in the same call, for which all types of a source are in one slot.
 */
import type { Configuration } from '../../config/configuration.ts';
import { autoFieldsMax, autoIndexedNamesMax } from '../../contract/limits.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { isNews } from '../../search/fields/infer.ts';
import { scanKeyNames } from '../derived/keyspace.ts';
import { keys } from '../keys.ts';
import { answerOf, storeError } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { TimelyScript } from '../redis/script.ts';
import type { Store } from '../store.ts';

const decide = new TimelyScript<number>('entities/decide', 2);
const forget = new TimelyScript<number>('entities/forget-fields', null);
const decideOutcome = { typeRefused: 0, someRefused: 2 } as const;

/** Marks that the type exists, even without fields. Its value counts retyped fields; no field has this name. */
const marker = '*';
/** A script blocks all other commands while it runs. */
const fieldsPerCall = 500;

interface KnownType {
  readonly fields: Map<string, FieldType>;
  /** The type has no room for more fields. */
  readonly isFull: boolean;
  /** How many fields got another type. */
  readonly retypings: number;
}

export class AutoFields {
  readonly #types = new Map<string, KnownType>();

  constructor(private readonly store: Store) {}

  /** The fields known to this process; null for an unknown type. */
  known(tenant: string, sourceId: string, type: string): ReadonlyMap<string, FieldType> | null {
    return this.#types.get(nameOf(tenant, sourceId, type))?.fields ?? null;
  }

  /**
   * How many field types of an entity type were decided or changed, as far as this process knows. The number only grows, so
   * processes can detect an outdated copy.
   */
  decisions(tenant: string, sourceId: string, type: string): number {
    const known = this.#types.get(nameOf(tenant, sourceId, type));
    return known === undefined ? 0 : known.fields.size + known.retypings;
  }

  /** True if this process knows that the type has no room for another field. */
  isFull(tenant: string, sourceId: string, type: string): boolean {
    return this.#types.get(nameOf(tenant, sourceId, type))?.isFull === true;
  }

  /**
   * Creates the entity type and decides the types of new or retyped fields, in the order of the candidates: the last ones are
   * left out when there is no room (`autoFieldsMax`, `autoIndexedNamesMax`). Does not call Redis when nothing is new.
   * @returns the decided types, or null when there is no room for the entity type
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
    // If a failover lost the decision, another process could decide otherwise.
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
   * All fields in Redis; null for an unknown entity type. Fields are only ever added or retyped, so unchanged counts mean an
   * unchanged map and the fields need not be sent again.
   * @throws StoreUnavailableError
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
   * Returns the `types` that do not exist and cannot be created because their source has no room.
   * @throws StoreUnavailableError
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
   * Clears the cache of this process for sources that a configuration added or removed: after a purge, their types are decided
   * again.
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
   * Deletes the types of a source that is no longer configured, if they are in the partition with the tag.
   * @param timeLimit called before the deletion; see `TimelyScript`
   * @returns number of entity types and fields
   * @throws StoreUnavailableError
   */
  async forgetDecided(
    tag: string,
    tenant: string,
    sourceId: string,
    timeLimit: () => Promise<number>,
  ): Promise<number> {
    if (tag !== this.#tag(tenant, sourceId)) return 0;
    // The same key can appear twice in a scan. There are at most `autoIndexedNamesMax`.
    const found = new Set<string>();
    for await (const names of scanKeyNames(this.store, keys.autoFields(tag, tenant, sourceId, '*'))) {
      for (const name of names) found.add(name);
    }
    const scriptKeys = [keys.autoIndexed(tag, tenant, sourceId), ...found];
    return await forget.run(this.store, scriptKeys, [], await timeLimit());
  }

  /** True if a source has decided types. @throws StoreUnavailableError */
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
    // At least one portion, because a type without fields has to be created too.
    for (let at = 0; at === 0 || at < fields.length; at += fieldsPerCall) {
      const portion = fields.slice(at, at + fieldsPerCall);
      const scriptArguments = [autoFieldsMax, autoIndexedNamesMax, marker, ...portion.flat()];
      const outcome = await decide.run(this.store, scriptKeys, scriptArguments);
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

/** Tenants and source ids have no colons. */
function nameOf(tenant: string, sourceId: string, type: string): string {
  return `${tenant}:${sourceId}:${type}`;
}

/** @param marked value of the marker */
function retypingsIn(marked: string | null | undefined): number {
  const retypings = Number(marked ?? 0);
  return Number.isInteger(retypings) ? retypings : 0;
}

/** Decodes a hash of `keys.autoFields`. */
export function decodeFields(stored: Record<string, string>): Map<string, FieldType> {
  const fields = new Map(Object.entries(stored) as [string, FieldType][]);
  fields.delete(marker);
  return fields;
}

/** The decided field types of an auto-indexed entity type, as in a backup. */
export interface AutoFieldTypes {
  readonly tenant: string;
  readonly sourceId: string;
  readonly type: string;
  /** Empty for a type whose entities never had a field. */
  readonly fields: ReadonlyMap<string, FieldType>;
}

/** An entity type can contain any character, even a line feed. */
const keyPattern = /^\{[^}]*\}:fields:([^:]*):([^:]*):(.*)$/s;

/** Yields the types of every source, configured or not. As with SCAN, one can appear twice. @throws StoreUnavailableError */
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
