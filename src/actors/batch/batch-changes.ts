/** Collects everything that the commit of a batch stores and announces. */

import type { Configuration } from '../../config/configuration.ts';
import type { Diagnostic } from '../../contract/diagnostic.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { ReferenceChanges } from '../../store/change-log/references.ts';
import { type RemovedView, ReportedViews } from '../../store/change-log/reported-views.ts';
import type { ClaimWrite } from '../../store/claims/claim-records.ts';
import { DigestList } from '../../store/codec/digest.ts';
import type { NameList } from '../../store/codec/name-lists.ts';
import type { StoredItem } from '../../store/derived/item-record.ts';
import { type ItemChange, itemIndexField } from '../../store/derived/items.ts';
import type { Registration } from '../../store/derived/lookups.ts';
import { withoutNames } from '../../store/derived/nameless-body.ts';
import {
  encodeProcessed,
  type ProcessedClaim,
  type ProcessedOutput,
  type ProcessedRecord,
  processedNamesOf,
} from '../../store/derived/processed-record.ts';
import { storedFields } from '../../store/derived/stored-body.ts';
import { claimSubject, itemsSubject, viewSubject } from '../../store/derived/subjects.ts';
import { scheduleText } from '../../store/entities/entity-schedule.ts';
import { keys, largeBodyField } from '../../store/keys.ts';
import { type FieldWrites, type ListChange, PartitionWrites } from '../../store/partitions/commit.ts';
import type { DeferredFor } from '../../store/partitions/pending-work.ts';
import type { EntityName } from '../../store/scopes.ts';
import { sourceField } from '../../store/scopes.ts';
import type { StoredOutput } from './build-turns.ts';
import { type Builder, itemNameList, type OutputName, outputField, outputHash } from './builder.ts';
import type { Turn } from './turn.ts';

/** Counts for the metrics. */
export interface BatchCounts {
  entities: number;
  /** Views and items computed, and how many of them had the same bytes as before. */
  built: number;
  unchanged: number;
  /** Findings about the data, by kind. */
  readonly diagnostics: Map<Diagnostic['kind'], number>;
}

/** An output that a batch did not build, or actions that it did not run. */
export interface DeferredOutput {
  readonly tenant: string;
  readonly dependent: string;
  readonly reason: DeferredFor;
  /** True if reads with a version wait for it. */
  readonly isAwaited: boolean;
  /** The entity whose change caused it; null if unknown. */
  readonly cause: EntityRef | null;
}

/** Adds an entity to the schedule or removes it. */
export interface ScheduleChange {
  readonly tenant: string;
  readonly sourceId: string;
  readonly atMs: number;
  readonly waits: boolean;
}

/** @param dependent dependent of the turn's entity */
export function deferredOutput(turn: Turn, dependent: string, reason: DeferredFor): DeferredOutput {
  const { tenant, sourceId, originId } = turn;
  const cause = turn.isChange ? { sourceId, originId } : (turn.causes.get(dependent) ?? null);
  return { tenant, dependent, reason, isAwaited: cause !== null, cause };
}

export class BatchChanges {
  readonly itemChanges: ItemChange[] = [];
  /** Digests of changes that requests can see. */
  readonly digests = new DigestList();
  readonly claimWrites: ClaimWrite[] = [];
  readonly unregistrations: Registration[] = [];
  readonly references = new ReferenceChanges();
  /** Entries for the change log. */
  readonly reported = new ReportedViews();
  readonly writes = new PartitionWrites();
  readonly schedule: ScheduleChange[] = [];
  /** Outputs to build later. */
  readonly deferred: DeferredOutput[] = [];
  readonly counts: BatchCounts = { entities: 0, built: 0, unchanged: 0, diagnostics: new Map() };
  /** Processed records, by the name of their source. */
  readonly #records = new Map<string, FieldWrites>();
  /** Views or items by their builder, which belongs to one source. */
  readonly #outputs = new Map<Builder, FieldWrites>();
  /** Name lists of the records, by the key of their source. */
  readonly #lists = new Map<string, Set<NameList>>();
  /** Subjects of the indexes in `itemChanges`. */
  readonly #changedIndexes = new Set<string>();

  constructor(
    private readonly tag: string,
    private readonly namedFields: NamedFields,
  ) {}

  /** @param wasThere true if there may be an earlier output, which may have been large */
  putOutput(turn: Turn, builder: Builder, { bytes, item }: StoredOutput, wasThere: boolean): void {
    const writes = this.#outputsOf(builder, turn);
    const field = outputField(builder, turn);
    if (builder.kind === 'item') {
      writes.set(field, bytes);
      this.#announceItem(turn, builder, item);
      return;
    }
    if (wasThere) writes.delete(largeBodyField(field));
    this.#putBody(turn, writes, field, bytes);
    this.#announceView(turn, builder);
  }

  #putBody({ tenant, sourceId }: Turn, writes: FieldWrites, field: string, body: Buffer): void {
    const nameless = withoutNames(body);
    if (nameless === null) {
      for (const [name, part] of storedFields(field, body)) writes.set(name, part);
      return;
    }
    writes.set(field, nameless.stored);
    this.#putNames(tenant, sourceId, nameless.list);
  }

  removeOutput(turn: Turn, name: OutputName): void {
    const writes = this.writes.hash(outputHash(this.tag, turn, name));
    const field = outputField(name, turn);
    writes.delete(field);
    if (name.kind === 'item') {
      this.#announceItem(turn, name, null);
      return;
    }
    writes.delete(largeBodyField(field));
    this.#announceView(turn, name);
  }

  /** @param isReported true if the view is reported anyway */
  moveClaim(
    action: ClaimWrite['action'],
    turn: Turn,
    view: OutputName,
    claim: ProcessedClaim,
    isReported: boolean,
  ): void {
    const { tenant, sourceId, originId } = turn;
    const scope = { tenant, environmentId: view.environmentId };
    const { field, host, kind, sinceStamp, display, redirect } = claim;
    const claimant = { sourceId, originId, alias: view.name };
    this.claimWrites.push({
      action,
      scope,
      field,
      claim: { host, kind, sinceStamp, view: claimant, display, redirect },
      isReported,
    });
    // The partition of the claim announces it too, but a front may receive that after the commit, and a request with
    // `Min-Version` only waits for the commit.
    this.digests.add(claimSubject(scope, field));
  }

  /** Gives the view an entry in the change log, a new one if it has changed. */
  reportView(turn: Turn, { environmentId, name: alias }: OutputName, isChanged: boolean): void {
    const { tenant, sourceId, originId } = turn;
    const view = { sourceId, originId, alias };
    if (isChanged) this.reported.changed({ tenant, environmentId }, view);
    else this.reported.there({ tenant, environmentId }, view);
  }

  reportRemoved(turn: Turn, { environmentId, name: alias }: OutputName, was: RemovedView): void {
    const { tenant, sourceId, originId } = turn;
    this.reported.removed({ tenant, environmentId }, { sourceId, originId, alias }, was);
  }

  /** @param text as in `ProcessedOutput.references` */
  moveReference(
    action: 'add' | 'drop',
    { tenant, sourceId, originId }: Turn,
    { environmentId, name: alias }: OutputName,
    text: string,
  ): void {
    this.references[action]({ tenant, environmentId }, { sourceId, originId, alias }, text);
  }

  unregister({ tenant }: Turn, dependent: string, keysOfLookups: ProcessedOutput['dependsOn']): void {
    for (const [sourceId, lookupKey] of keysOfLookups) {
      this.unregistrations.push({ action: 'drop', tenant, sourceId, lookupKey, member: dependent });
    }
  }

  putRecord({ tenant, sourceId, originId }: Turn, record: ProcessedRecord): void {
    const list = processedNamesOf(record);
    this.#recordsOf(tenant, sourceId).set(originId, encodeProcessed(record, list));
    if (list !== null) this.#putNames(tenant, sourceId, list);
  }

  removeRecord({ tenant, sourceId, originId }: Turn): void {
    this.writes.delete(keys.processed(this.tag, tenant, sourceId), originId);
  }

  /** Adds the entity to the directory of its type, or removes it. */
  list({ tenant, sourceId, originId }: Turn, type: string, change: ListChange): void {
    this.writes.list(keys.directory(this.tag, tenant, sourceId, type), originId, change);
    if (change !== 'removed')
      this.namedFields.add(this.writes, keys.entityTypes(this.tag, tenant, sourceId), type);
  }

  /** Adds the entity to the schedule, or removes it. @param isNew false when an existing entry is only rewritten */
  wait({ tenant, sourceId, originId }: EntityName, atMs: number, waits: boolean, isNew = true): void {
    const change = waits ? 'kept' : 'removed';
    this.writes.list(keys.schedule(this.tag, tenant, sourceId), scheduleText({ atMs, originId }), change);
    if (waits)
      this.namedFields.add(this.writes, keys.scheduledSources(this.tag), sourceField({ tenant, sourceId }));
    if (isNew) this.schedule.push({ tenant, sourceId, atMs, waits });
  }

  countFindings(findings: readonly Diagnostic[]): void {
    const { diagnostics } = this.counts;
    for (const { kind } of findings) diagnostics.set(kind, (diagnostics.get(kind) ?? 0) + 1);
  }

  #announceView({ tenant, sourceId, originId }: Turn, { environmentId, name }: OutputName): void {
    this.digests.add(viewSubject({ tenant, environmentId }, { sourceId, originId, alias: name }));
  }

  #announceItem(turn: Turn, { environmentId, name: index }: OutputName, item: StoredItem | null): void {
    const { tenant, sourceId, originId } = turn;
    const scope = { tenant, environmentId };
    this.itemChanges.push({ scope, index, sourceId, originId, item });
    const subject = itemsSubject(scope, index);
    if (this.#changedIndexes.has(subject)) return;
    this.#changedIndexes.add(subject);
    this.digests.add(subject);
  }

  #outputsOf(builder: Builder, turn: Turn): FieldWrites {
    const known = this.#outputs.get(builder);
    if (known !== undefined) return known;
    const { tenant } = turn;
    const writes = this.writes.hash(outputHash(this.tag, turn, builder));
    this.#outputs.set(builder, writes);
    if (builder.kind === 'item') {
      const { environmentId, name: index } = builder;
      const field = itemIndexField({ scope: { tenant, environmentId }, index });
      this.namedFields.add(this.writes, keys.itemIndexes(this.tag), field);
      const list = itemNameList(builder);
      if (list !== null) this.#putNames(tenant, turn.sourceId, list);
    }
    return writes;
  }

  /** Stores the list of names that records omit, once per commit. */
  #putNames(tenant: string, sourceId: string, list: NameList): void {
    const key = keys.names(this.tag, tenant, sourceId);
    const lists = this.#lists.get(key) ?? new Set();
    this.#lists.set(key, lists);
    if (lists.has(list)) return;
    lists.add(list);
    this.writes.set(key, list.digest, Buffer.from(list.text));
  }

  /** The first record of a source registers the source in this partition. */
  #recordsOf(tenant: string, sourceId: string): FieldWrites {
    const name = sourceField({ tenant, sourceId });
    const known = this.#records.get(name);
    if (known !== undefined) return known;
    const records = this.writes.hash(keys.processed(this.tag, tenant, sourceId));
    this.#records.set(name, records);
    this.namedFields.add(this.writes, keys.sources(this.tag), name);
    return records;
  }
}

const present = Buffer.from('1');
/**
 * Maximum number of remembered fields, because clients determine the number of entity types. Forgotten fields are stored again.
 */
const rememberedMax = 10_000;

/** Hash fields whose names list what a partition has. An owner stores each of them once per configuration. */
export class NamedFields {
  /** Fields that this owner's commits have stored. */
  readonly #stored = new Set<string>();
  /** Fields of the current batch. */
  #coming: string[] = [];
  #configuration: Configuration | null = null;

  /**
   * Begins a batch or its retry, whose previous writes were not stored. After a configuration change, all fields are stored
   * again, because a source may have been purged with its fields and added again.
   */
  begin(configuration: Configuration): void {
    this.#coming = [];
    if (configuration !== this.#configuration || this.#stored.size > rememberedMax) this.#stored.clear();
    this.#configuration = configuration;
  }

  add(writes: PartitionWrites, key: string, field: string): void {
    const name = `${key} ${field}`;
    if (this.#stored.has(name)) return;
    writes.set(key, field, present);
    this.#coming.push(name);
  }

  /** Called after the commit of the batch. */
  settle(): void {
    for (const name of this.#coming) this.#stored.add(name);
    this.#coming = [];
  }
}
