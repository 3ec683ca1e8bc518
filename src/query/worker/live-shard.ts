/** One index of one environment in a worker's memory, with its pending changes and running loads. */
import type { EntityRef } from '../../contract/ids.ts';
import { getOwn, type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import {
  chain,
  type Resumable,
  runSync,
  type Steps,
  Suspended,
  workBudget,
} from '../../lib/cooperative-yield.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { fitAutoField, fitField } from '../../search/fields/fit.ts';
import { decidesNothing, retypes } from '../../search/fields/infer.ts';
import { hasMembers, pathValues } from '../../search/fields/paths.ts';
import { Shard } from '../../search/shard/shard.ts';
import { type EncodedItem, type StoredItem, updatedAtIfSame } from '../../store/derived/item-record.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { type IndexDefinition, knownDecisions, knownFields } from '../known-index-fields.ts';

/** A running scan of one partition. An item that has changed since the scan began is newer than what the scan finds. */
export interface Fill {
  readonly partition: number;
  /** `itemKey` of the items that have changed since. */
  readonly changed: Set<string>;
}

type Change =
  | { readonly kind: 'put'; readonly partition: number; readonly item: StoredItem }
  | { readonly kind: 'remove'; readonly sourceId: string; readonly originId: string }
  | { readonly kind: 'drop'; readonly partition: number }
  | { readonly kind: 'dropUnconfirmed' }
  | { readonly kind: 'learn' };

export class LiveShard {
  readonly shard: Shard;
  readonly #fields: Map<string, FieldType>;
  readonly #fills = new Set<Fill>();
  /** Changes in order. Those from index `#done` on are not applied yet. */
  readonly #changes: Change[] = [];
  #changeCount = 0;
  #done = 0;
  /** The steps that apply them; null if not begun. */
  #applying: Steps<void> | null = null;
  /** `AutoFields.decisions` that the shard follows, including pending ones. */
  #decisions: number;
  #pins = 0;
  #waiting: (() => void)[] = [];

  constructor(
    readonly definition: IndexDefinition,
    private readonly autoFields: AutoFields,
    /** Called when the last pin is removed while changes are waiting. */
    private readonly onUnpin: (live: LiveShard) => void,
    /** Those of a snapshot, which may lack new ones; absent for those that this process knows. */
    fields?: ReadonlyMap<string, FieldType>,
  ) {
    this.#fields = new Map(fields ?? knownFields(definition, autoFields));
    this.#decisions = fields === undefined ? knownDecisions(definition, autoFields) : 0;
    const texts = definition.kind === 'schema' ? { texts: definition.texts } : {};
    this.shard = new Shard({ fields: new Map(this.#fields), ...texts });
  }

  /** Number of changes so far, including those that are not applied yet. */
  get changeCount(): number {
    return this.#changeCount;
  }

  /** True if all changes are applied, and no items of a snapshot are unconfirmed. */
  get canAnswer(): boolean {
    return this.isCurrent && !this.shard.hasUnconfirmed;
  }

  /** False while changes are not applied yet. The shard cannot answer then. */
  get isCurrent(): boolean {
    return this.#changes.length === 0;
  }

  /**
   * Prevents changes to the shard, for a paused query. The shard must be current.
   * @returns a function that removes the pin; must be called once
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
   * Applies the pending changes, unless the shard is pinned.
   * @param endsMs when to stop, on the clock of `performance.now()`
   * @returns whether all changes are applied
   */
  advance(endsMs: number): boolean {
    if (this.isCurrent) return true;
    if (this.isPinned) return false;
    workBudget.clock = () => performance.now() >= endsMs;
    this.#applying ??= this.#applyAll();
    if (!this.#applySome(this.#applying)) return false;
    this.#applying = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
    return true;
  }

  /**
   * Continues to apply changes. One that throws, which is a bug, is skipped so that it does not block the others.
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

  /** Resolves when all changes are applied. */
  current(): Promise<void> {
    return this.isCurrent ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  *#applyAll(): Steps<void> {
    for (; this.#done < this.#changes.length; this.#done += 1) {
      const change = this.#changes[this.#done];
      if (change !== undefined) yield* this.#apply(change);
      if (workBudget.isOver()) yield;
    }
    this.#changes.length = 0;
    this.#done = 0;
  }

  #apply(change: Change): Steps<unknown> {
    switch (change.kind) {
      case 'put':
        return this.#put(change.partition, change.item);
      case 'remove':
        return this.shard.take(change.sourceId, change.originId);
      case 'drop':
        return this.shard.dropPartition(change.partition);
      case 'dropUnconfirmed':
        return this.shard.dropUnconfirmed();
      case 'learn':
        return this.#learnFields();
    }
  }

  /** Queues a changed item for the next `advance`; null if it was removed. */
  change(partition: number, sourceId: string, originId: string, item: StoredItem | null): void {
    for (const fill of this.#fills) {
      if (fill.partition === partition) fill.changed.add(itemKey(sourceId, originId));
    }
    this.#note(item === null ? { kind: 'remove', sourceId, originId } : { kind: 'put', partition, item });
  }

  /** Queues the removal of all items of a partition. */
  drop(partition: number): void {
    this.#note({ kind: 'drop', partition });
  }

  get decisions(): number {
    return this.#decisions;
  }

  /** Queues the indexing of fields whose types this process has learnt. */
  learn(): void {
    this.#decisions = knownDecisions(this.definition, this.autoFields);
    this.#note({ kind: 'learn' });
  }

  /** Queues the removal of snapshot items that no load has confirmed. */
  dropUnconfirmed(): void {
    if (this.shard.hasUnconfirmed) this.#note({ kind: 'dropUnconfirmed' });
  }

  #note(change: Change): void {
    this.#changes.push(change);
    this.#changeCount += 1;
  }

  /** Begins a fill, which records every change from now on. `end` must follow. */
  begin(partition: number): Fill {
    const fill = { partition, changed: new Set<string>() };
    this.#fills.add(fill);
    return fill;
  }

  end(fill: Fill): void {
    this.#fills.delete(fill);
  }

  /** Queues an item that a scan found, unless the item has changed since the fill began. */
  found(fill: Fill, item: StoredItem): void {
    if (hasChanged(fill, item)) return;
    this.#note({ kind: 'put', partition: fill.partition, item });
  }

  /**
   * True if an item that a scan found needs no `found`: the snapshot has it unchanged, or it has changed since the fill began.
   */
  confirm(fill: Fill, item: EncodedItem): boolean {
    if (!this.isCurrent || !this.shard.hasUnconfirmed) return false;
    if (hasChanged(fill, item)) return true;
    const { sourceId, originId } = item;
    const head = { partition: fill.partition, sourceId, originId };
    return this.shard.confirm(head, (text) => updatedAtIfSame(item, text));
  }

  /** True if the types of all fields of the item are known here. */
  knows({ fields }: StoredItem): boolean {
    if (this.definition.kind === 'schema') return true;
    const isKnown = (name: string, value: Json) => {
      const type = this.#fields.get(name);
      return type === undefined ? decidesNothing(value) : !retypes(type, value);
    };
    let hasPaths = false;
    for (const name of namesOf(fields)) {
      const value = fields[name] ?? null;
      if (!isKnown(name, value)) return false;
      hasPaths ||= hasMembers(value);
    }
    if (!hasPaths) return true;
    return [...runSync(pathValues(fields))].every(([path, value]) => isKnown(path, value));
  }

  *#put(partition: number, item: StoredItem): Steps<void> {
    if (!this.knows(item)) yield* this.#learnFields();
    const { sourceId, originId, updatedAtMs } = item;
    const fields = this.#isMadeForThis(item) ? item.fields : yield* this.#fitting(item.fields);
    const hasPaths = this.definition.kind === 'auto' && Object.values(fields).some(hasMembers);
    const members = hasPaths ? yield* this.#members(fields) : undefined;
    const fieldsText = fields === item.fields ? item.fieldsText : undefined;
    yield* this.shard.put({ partition, sourceId, originId, updatedAtMs, fields, members, fieldsText });
  }

  /** Values of members of objects that fit the types of their fields, or whose types are not decided yet. */
  *#members(fields: JsonObject): Steps<ReadonlyMap<string, Json>> {
    const members = new Map<string, Json>();
    for (const [path, value] of yield* pathValues(fields)) {
      const type = this.#fields.get(path);
      if (type === undefined) {
        if (decidesNothing(value)) members.set(path, value);
        continue;
      }
      const made = fitAutoField(type, value);
      const fit = made instanceof Suspended ? yield* made.steps : made;
      if (fit.ok) members.set(path, fit.value);
    }
    return members;
  }

  #isMadeForThis({ fittedTo }: StoredItem): boolean {
    return this.definition.kind === 'schema' && fittedTo === this.definition.fields;
  }

  /**
   * The fields that fit their types here. After a change of a field's type, a stored item has a value of the previous type until
   * it is rebuilt.
   */
  *#fitting(fields: JsonObject): Steps<JsonObject> {
    const names = namesOf(fields);
    const fitting: string[] = [];
    for (const name of names) {
      const made = this.#fits(fields, name);
      const fits = made instanceof Suspended ? yield* made.steps : made;
      if (fits) fitting.push(name);
      if (workBudget.isOver()) yield;
    }
    if (fitting.length === names.length) return fields;
    const some: JsonObject = {};
    for (const name of fitting) setOwn(some, name, getOwn(fields, name) ?? null);
    return some;
  }

  #fits(fields: JsonObject, name: string): Resumable<boolean> {
    const type = this.#fields.get(name);
    const value = getOwn(fields, name) ?? null;
    if (this.definition.kind === 'auto') {
      if (decidesNothing(value)) return true;
      return type !== undefined && chain(fitAutoField(type, value), ({ ok }) => ok);
    }
    return type !== undefined && chain(fitField(type, value), ({ ok }) => ok);
  }

  /** Adds the fields that this process has learnt since, and reindexes those whose types have changed. */
  *#learnFields(): Steps<void> {
    for (const [name, type] of knownFields(this.definition, this.autoFields)) {
      if (this.#fields.get(name) === type) continue;
      this.#fields.set(name, type);
      yield* this.shard.learnField(name, type);
    }
    this.#decisions = knownDecisions(this.definition, this.autoFields);
  }
}

function hasChanged({ changed }: Fill, { sourceId, originId }: EntityRef): boolean {
  return changed.size > 0 && changed.has(itemKey(sourceId, originId));
}

function itemKey(sourceId: string, originId: string): string {
  return `${sourceId}:${originId}`;
}
