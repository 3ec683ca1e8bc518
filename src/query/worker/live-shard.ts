/** One index of one environment in a worker's memory, and the loads that are filling it. */
import { getOwn, type JsonObject, setOwn } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import { chain, type Maybe, pace, repeat, type Steps, Unfinished } from '../../lib/pace.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { fitField } from '../../search/fields/fit.ts';
import { Shard } from '../../search/shard/shard.ts';
import type { PartReader } from '../../search/snapshot/parts.ts';
import { type EncodedItem, type StoredItem, updatedAtIfSame } from '../../store/derived/item-record.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { type IndexDefinition, knownFields } from '../index-fields.ts';

/**
 * A scan of one partition that is under way. An item that changed since the scan began is newer than what the scan
 * finds.
 */
export interface Fill {
  readonly partition: number;
  /** `itemKey` of the items that changed. */
  readonly changed: Set<string>;
}

type Change =
  | { readonly kind: 'put'; readonly partition: number; readonly item: StoredItem }
  | { readonly kind: 'remove'; readonly sourceId: string; readonly originId: string }
  | { readonly kind: 'drop'; readonly partition: number }
  | { readonly kind: 'dropUnproven' };

export class LiveShard {
  readonly shard: Shard;
  readonly #fields: Map<string, FieldType>;
  readonly #fills = new Set<Fill>();
  /** Changes in their order. Those from `#done` on wait to be applied. */
  readonly #changes: Change[] = [];
  #changeCount = 0;
  #done = 0;
  /** The steps of applying them; null: not begun. */
  #applying: Steps<void> | null = null;
  #pins = 0;
  #waiting: (() => void)[] = [];

  constructor(
    readonly definition: IndexDefinition,
    private readonly autoFields: AutoFields,
    /** Called when the last pin goes while changes wait. */
    private readonly onUnpin: (live: LiveShard) => void,
    fields: ReadonlyMap<string, FieldType> = knownFields(definition, autoFields),
  ) {
    this.#fields = new Map(fields);
    const texts = definition.kind === 'schema' ? { texts: definition.texts } : {};
    this.shard = new Shard({ fields: new Map(this.#fields), ...texts });
  }

  /** Fills the shard with the parts of a snapshot. It must be new. @throws SnapshotDamagedError; it is of no use then */
  async restore(from: PartReader): Promise<void> {
    await this.shard.restore(from);
  }

  /** Number of changes so far, those that wait included. */
  get changeCount(): number {
    return this.#changeCount;
  }

  /** True when the shard has all changes, and no items of a snapshot that may be gone. */
  get canAnswer(): boolean {
    return this.isCurrent && !this.shard.hasUnproven;
  }

  /** False while changes wait that the shard should have by now. It can then answer nobody. */
  get isCurrent(): boolean {
    return this.#changes.length === 0;
  }

  /**
   * Keeps the shard as it is, for a query that pauses. The shard must be current.
   * @returns a function that ends this; must be called once
   */
  pin(): () => void {
    this.#pins += 1;
    return () => {
      this.#pins -= 1;
      if (this.#pins === 0 && !this.isCurrent) this.onUnpin(this);
    };
  }

  get isPinned(): boolean {
    return this.#pins > 0;
  }

  /**
   * Applies the changes that wait, unless the shard is pinned.
   * @param endsMs when to stop, on the clock of `performance.now()`; changes that are not applied by then go on waiting
   * @returns whether nothing waits any more
   */
  advance(endsMs: number): boolean {
    if (this.isCurrent) return true;
    if (this.isPinned) return false;
    pace.clock = () => performance.now() >= endsMs;
    this.#applying ??= this.#applyAll();
    if (!this.#applySome(this.#applying)) return false;
    this.#applying = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
    return true;
  }

  /**
   * Goes on applying. A change that throws, which is a bug of ours, must not stop all others.
   * @returns whether all are applied
   */
  #applySome(applying: Steps<void>): boolean {
    try {
      return applying.next().done === true;
    } catch (error) {
      this.#applying = null;
      this.#done += 1;
      throw error;
    }
  }

  /** Resolves when nothing waits to be applied. */
  current(): Promise<void> {
    return this.isCurrent ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  *#applyAll(): Steps<void> {
    for (; this.#done < this.#changes.length; this.#done += 1) {
      const change = this.#changes[this.#done];
      const applied = change === undefined ? undefined : this.#apply(change);
      if (applied instanceof Unfinished) yield* applied.steps;
      if (pace.isOver()) yield;
    }
    this.#changes.length = 0;
    this.#done = 0;
  }

  #apply(change: Change): Maybe<unknown> {
    switch (change.kind) {
      case 'put':
        return this.#put(change.partition, change.item);
      case 'remove':
        return this.shard.take(change.sourceId, change.originId);
      case 'drop':
        return this.shard.dropPartition(change.partition);
      case 'dropUnproven':
        return this.shard.dropUnproven();
    }
  }

  /** Notes that an item was put or removed, for the next `advance`. */
  change(partition: number, sourceId: string, originId: string, item: StoredItem | null): void {
    for (const fill of this.#fills) {
      if (fill.partition === partition) fill.changed.add(itemKey(sourceId, originId));
    }
    this.#note(item === null ? { kind: 'remove', sourceId, originId } : { kind: 'put', partition, item });
  }

  /** Notes that all items of a partition are removed, for the next `advance`. */
  drop(partition: number): void {
    this.#note({ kind: 'drop', partition });
  }

  /** Notes that items of the snapshot that no fill has found are gone, for the next `advance`. */
  dropUnproven(): void {
    if (this.shard.hasUnproven) this.#note({ kind: 'dropUnproven' });
  }

  #note(change: Change): void {
    this.#changes.push(change);
    this.#changeCount += 1;
  }

  /** Begins a fill that sees every change from now on. `end` must follow. */
  begin(partition: number): Fill {
    const fill = { partition, changed: new Set<string>() };
    this.#fills.add(fill);
    return fill;
  }

  end(fill: Fill): void {
    this.#fills.delete(fill);
  }

  /** Notes an item that a scan found, for the next `advance`, unless the item changed since the fill began. */
  found(fill: Fill, item: StoredItem): void {
    if (fill.changed.has(itemKey(item.sourceId, item.originId))) return;
    this.#note({ kind: 'put', partition: fill.partition, item });
  }

  /** True when an item that a scan found needs no `found`: the snapshot has it just so, or it changed since the fill began. */
  confirm({ partition, changed }: Fill, item: EncodedItem): boolean {
    if (!this.isCurrent || !this.shard.hasUnproven) return false;
    const { sourceId, originId } = item;
    if (changed.size > 0 && changed.has(itemKey(sourceId, originId))) return true;
    return this.shard.confirm({ partition, sourceId, originId }, (text) => updatedAtIfSame(item, text));
  }

  /** True when every field of the item has its type here, so that it can be put. */
  knows({ fields }: StoredItem): boolean {
    if (this.definition.kind === 'schema') return true;
    return Object.keys(fields).every((name) => this.#fields.has(name));
  }

  #put(partition: number, item: StoredItem): Maybe<void> {
    if (!this.knows(item)) this.#learnFields();
    const { sourceId, originId, updatedAtMs, fieldsText } = item;
    return chain(this.#isMadeForThis(item) ? item.fields : this.#fitting(item.fields), (fields) => {
      const isWhole = fields === item.fields && fieldsText !== undefined;
      const text = isWhole ? { fieldsText } : {};
      return this.shard.put({ partition, sourceId, originId, updatedAtMs, fields, ...text });
    });
  }

  #isMadeForThis({ fittedTo }: StoredItem): boolean {
    return this.definition.kind === 'schema' && fittedTo === this.definition.fields;
  }

  /**
   * The fields that fit their types here. Another configuration may have made the item: after a change of a field's
   * type, a stored item has a value of the former type until it is rebuilt.
   */
  #fitting(fields: JsonObject): Maybe<JsonObject> {
    const fitting: JsonObject = {};
    let isWhole = true;
    const names = namesOf(fields);
    const look = (at: number): Maybe<boolean> => {
      const name = names[at];
      if (name === undefined) return false;
      return chain(this.#fits(fields, name), (fits) => {
        if (fits) setOwn(fitting, name, getOwn(fields, name) ?? null);
        else isWhole = false;
        return true;
      });
    };
    return chain(repeat(look), () => (isWhole ? fields : fitting));
  }

  #fits(fields: JsonObject, name: string): Maybe<boolean> {
    const type = this.#fields.get(name);
    return type !== undefined && chain(fitField(type, getOwn(fields, name) ?? null), ({ ok }) => ok);
  }

  /** Adds the fields that this process has learnt since. */
  #learnFields(): void {
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
