/** One index of one environment in a worker's memory, and the loads that are filling it. */
import { getOwn, type JsonObject, setOwn } from '../contract/json.ts';
import { fitField } from '../search/fit.ts';
import { Shard } from '../search/shard.ts';
import type { FieldType } from '../search/types.ts';
import type { AutoFields } from '../store/auto-fields.ts';
import type { StoredItem } from '../store/types.ts';
import { type IndexDefinition, knownFields } from './index-fields.ts';

/** A scan of one partition that is under way: what changed since it began is newer than what it finds. */
export interface Fill {
  readonly partition: number;
  /** `itemKey` of the items that changed. */
  readonly changed: Set<string>;
}

export class LiveShard {
  readonly shard: Shard;
  readonly #fields: Map<string, FieldType>;
  readonly #fills = new Set<Fill>();

  constructor(
    readonly definition: IndexDefinition,
    private readonly autoFields: AutoFields,
  ) {
    this.#fields = new Map(knownFields(definition, autoFields));
    this.shard = new Shard({ fields: new Map(this.#fields) });
  }

  /** Puts or removes the current state of an item. */
  change(partition: number, sourceId: string, originId: string, item: StoredItem | null): void {
    for (const fill of this.#fills) {
      if (fill.partition === partition) fill.changed.add(itemKey(sourceId, originId));
    }
    if (item === null) this.shard.remove(sourceId, originId);
    else this.#put(partition, item);
  }

  /** A fill that sees every change from now on; `end` must follow. */
  begin(partition: number): Fill {
    const fill = { partition, changed: new Set<string>() };
    this.#fills.add(fill);
    return fill;
  }

  end(fill: Fill): void {
    this.#fills.delete(fill);
  }

  /** Puts an item that a scan found, unless it changed since the fill began. */
  found(fill: Fill, item: StoredItem): void {
    if (!fill.changed.has(itemKey(item.sourceId, item.originId))) this.#put(fill.partition, item);
  }

  /** True when every field of the item has its type here, so that it can be put. */
  knows({ fields }: StoredItem): boolean {
    if (this.definition.kind === 'schema') return true;
    return Object.keys(fields).every((name) => this.#fields.has(name));
  }

  #put(partition: number, item: StoredItem): void {
    if (!this.knows(item)) this.learnFields();
    const { sourceId, originId, updatedAtMs, fieldsText } = item;
    const fields = this.#isMadeForThis(item) ? item.fields : this.#fitting(item.fields);
    const isWhole = fields === item.fields && fieldsText !== undefined;
    const text = isWhole ? { fieldsText } : {};
    this.shard.upsert({ partition, sourceId, originId, updatedAtMs, fields, ...text });
  }

  #isMadeForThis({ fittedTo }: StoredItem): boolean {
    return this.definition.kind === 'schema' && fittedTo === this.definition.fields;
  }

  /**
   * The item may have been made by another configuration than the one this shard follows: after a change of a field's
   * type stored items go on having the former one until each is rebuilt.
   */
  #fitting(fields: JsonObject): JsonObject {
    const names = Object.keys(fields);
    if (names.every((name) => this.#fits(fields, name))) return fields;
    const fitting: JsonObject = {};
    for (const name of names) {
      if (this.#fits(fields, name)) setOwn(fitting, name, getOwn(fields, name) ?? null);
    }
    return fitting;
  }

  #fits(fields: JsonObject, name: string): boolean {
    const type = this.#fields.get(name);
    return type !== undefined && fitField(type, getOwn(fields, name) ?? null).ok;
  }

  /** Takes over the fields that this process has learnt since. */
  learnFields(): void {
    for (const [name, type] of knownFields(this.definition, this.autoFields)) {
      if (this.#fields.has(name)) continue;
      this.#fields.set(name, type);
      this.shard.addField(name, type);
    }
  }
}

function itemKey(sourceId: string, originId: string): string {
  return `${sourceId}:${originId}`;
}
