/**
 * The stream of a partition: changed entities, and views and items to rebuild; only ids, never content. Its owner reads it in
 * portions and merges each portion into one unit of work per entity. Anyone may request rebuilds with an entry.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { pack, unpack } from '../codec/pack.ts';
import { type Dependent, parseDependent, type Suspect, suspectOf } from '../derived/dependents.ts';
import { keys } from '../keys.ts';
import type { Caller } from '../ownership/lease.ts';
import { OwnerScript } from '../redis/script.ts';
import type { EntityName, SourceRef } from '../scopes.ts';
import type { Store } from '../store.ts';
import type { StreamSource } from '../streams/shared-streams.ts';
import { type StreamEntry, StreamReader } from '../streams/stream.ts';

export type IntakeEntry =
  | (SourceRef & {
      readonly kind: 'entities';
      readonly sequence: number;
      readonly originIds: readonly string[];
      /** Total size of the entities when they were announced. */
      readonly bytes: number;
    })
  | ({ readonly kind: 'invalidation' } & Invalidation);

/** Distinct causes, and for each dependent the index of its cause; -1 for none. */
export type PackedInvalidation = [
  tenant: string,
  dependents: string[],
  causes?: (readonly [sourceId: string, originId: string])[],
  numbers?: number[],
];

/** A reader of a partition's stream after its checkpoint. */
export class IntakeReader {
  readonly #reader: StreamReader;

  constructor(source: StreamSource, tag: string, checkpoint: number) {
    this.#reader = new StreamReader(source, keys.stream(tag), checkpoint);
  }

  /** See `StreamReader.begin`. */
  async begin(): Promise<void> {
    await this.#reader.begin();
  }

  /** See `StreamReader.next`. */
  async next(count: number, blockMs: number): Promise<IntakeEntry[]> {
    return (await this.#reader.next(count, blockMs)).map(decodeIntake);
  }

  seek(sequence: number): void {
    this.#reader.seek(sequence);
  }

  close(): void {
    this.#reader.close();
  }
}

function decodeIntake({ sequence, fields }: StreamEntry): IntakeEntry {
  const changed = fields.get('e');
  if (changed !== undefined) {
    const [tenant, sourceId, originIds, bytes] = unpack<[string, string, string[], number]>(changed);
    return { kind: 'entities', sequence, tenant, sourceId, originIds, bytes };
  }
  const packed = fields.get('r');
  const [tenant, dependents, causes = [], numbers = []]: PackedInvalidation =
    packed === undefined ? ['', []] : unpack<PackedInvalidation>(packed);
  const known = causes.map(([sourceId, originId]) => ({ sourceId, originId }));
  return {
    kind: 'invalidation',
    sequence,
    tenant,
    dependents,
    causes: dependents.map((_, at) => known[numbers[at] ?? -1] ?? null),
  };
}

/** One turn of an entity: for all its outputs, or only some. */
export interface EntityWork extends EntityName {
  /** Null: everything. */
  only: Dependent[] | null;
  /** Schemas whose actions for its last change have yet to run; absent: none. */
  actions?: Dependent[];
  /** A repair: everything is written as if nothing were stored. The suspects are removed, unless they are current outputs. */
  repair: Suspect[] | null;
  /** Formatted dependent -> the entity whose change causes its rebuild; absent if none is known. */
  causes?: Map<string, EntityRef>;
  /** Times in the schedule that request the turn; absent: none. */
  moments?: number[];
}

/** Unique in a store. */
export function nameOfWork({ tenant, sourceId, originId }: EntityName): string {
  return `${tenant}:${sourceId}:${originId}`;
}

/** Work for all outputs of an entity. */
export function wholeTurn({ tenant, sourceId, originId }: EntityName): EntityWork {
  return { tenant, sourceId, originId, only: null, repair: null };
}

/** The mailboxes of a batch: several changes of one entity are merged into one turn. */
export class Mailboxes {
  readonly #works = new Map<string, EntityWork>();

  get works(): EntityWork[] {
    return [...this.#works.values()];
  }

  get size(): number {
    return this.#works.size;
  }

  addEntity(entity: EntityName): void {
    this.#work(entity).only = null;
  }

  /** @param caused the formatted dependent, and the entity whose change causes its rebuild */
  addDependent(
    tenant: string,
    dependent: Dependent,
    caused: readonly [string, EntityRef] | null = null,
  ): void {
    const work = this.#work({ tenant, ...dependent });
    if (caused !== null) {
      work.causes ??= new Map();
      work.causes.set(...caused);
    }
    if (dependent.kind === 'actions') {
      work.actions ??= [];
      work.actions.push(dependent);
      return;
    }
    if (dependent.kind === 'view' || dependent.kind === 'item') {
      work.only?.push(dependent);
      return;
    }
    work.only = null;
    if (dependent.kind === 'entity') return;
    const suspect = suspectOf(dependent);
    work.repair = [...(work.repair ?? []), ...(suspect === null ? [] : [suspect])];
  }

  #work({ tenant, sourceId, originId }: EntityName): EntityWork {
    const key = nameOfWork({ tenant, sourceId, originId });
    const known = this.#works.get(key);
    if (known !== undefined) return known;
    const work: EntityWork = { tenant, sourceId, originId, only: [], repair: null };
    this.#works.set(key, work);
    return work;
  }
}

/** A stream entry that requests rebuilds. */
export interface Invalidation {
  readonly tenant: string;
  /** From `formatDependent`. */
  readonly dependents: readonly string[];
  /** For each dependent, the entity whose change invalidated it; null if unknown. */
  readonly causes: readonly (EntityRef | null)[];
  readonly sequence: number;
}

/** A portion of the stream that is committed together. */
export interface IntakePortion {
  readonly works: readonly EntityWork[];
  readonly invalidations: readonly Invalidation[];
  /** Last entry of the portion. */
  readonly sequence: number;
  /** Size relative to the largest portion: 1 to `portionParts`. */
  readonly parts: number;
}

export const portionParts = 8;
const entitiesPerPortion = 400;
const dependentsPerPortion = 2000;
const bytesPerPortion = 16 * 1024 * 1024;

/** Divides entries into portions of limited count and size, in order. */
export function* portionsOf(entries: readonly IntakeEntry[]): Generator<IntakePortion> {
  let portion = new PortionDraft();
  for (const entry of entries) {
    portion.add(entry);
    if (portion.fullness < 1) continue;
    yield portion.finished;
    portion = new PortionDraft();
  }
  if (portion.fullness > 0) yield portion.finished;
}

class PortionDraft {
  readonly #mailboxes = new Mailboxes();
  readonly #invalidations: Invalidation[] = [];
  #bytes = 0;
  #dependents = 0;
  #sequence = 0;

  add(entry: IntakeEntry): void {
    this.#sequence = entry.sequence;
    if (entry.kind === 'invalidation') {
      this.#invalidations.push(entry);
      this.#dependents += entry.dependents.length;
    } else {
      const { tenant, sourceId } = entry;
      for (const originId of entry.originIds) this.#mailboxes.addEntity({ tenant, sourceId, originId });
      this.#bytes += entry.bytes;
    }
  }

  /** Size relative to the largest portion: 0 if empty, 1 or more if full. */
  get fullness(): number {
    if (this.#mailboxes.size === 0 && this.#invalidations.length === 0) return 0;
    return Math.max(
      Number.MIN_VALUE,
      this.#mailboxes.size / entitiesPerPortion,
      this.#bytes / bytesPerPortion,
      this.#dependents / dependentsPerPortion,
    );
  }

  get finished(): IntakePortion {
    const parts = Math.min(portionParts, Math.ceil(this.fullness * portionParts));
    return {
      works: this.#mailboxes.works,
      invalidations: this.#invalidations,
      sequence: this.#sequence,
      parts,
    };
  }
}

export function rebuildWorks(
  rebuilds: readonly { tenant: string; dependent: string; cause?: EntityRef | null }[],
): EntityWork[] {
  const mailboxes = new Mailboxes();
  for (const { tenant, dependent, cause = null } of rebuilds) {
    const parsed = parseDependent(dependent);
    if (parsed !== null) mailboxes.addDependent(tenant, parsed, cause === null ? null : [dependent, cause]);
  }
  return mailboxes.works;
}

const invalidateScript = new OwnerScript<number>('partitions/invalidate', 3);

/** The caller for processes that own no partition; never fenced. */
export const outsideCaller: Caller = { partition: -1, epoch: 0 };

/**
 * Requests a rebuild of views and items of a partition's entities.
 * @param causes for each dependent, the entity whose change invalidates it; absent: unknown
 * @returns sequence of the invalidation
 * @throws FencedError, StoreUnavailableError
 */
export function invalidate(
  store: Store,
  caller: Caller,
  partition: number,
  tenant: string,
  dependents: readonly string[],
  causes: readonly (EntityRef | null)[] = [],
): Promise<number> {
  const tag = store.partitions.tag(partition);
  caller.reached?.add(tag);
  return invalidateScript.run(
    store.client,
    caller,
    [keys.fence(tag), keys.clock(tag), keys.stream(tag)],
    [caller.partition, caller.epoch, pack(packedInvalidation(tenant, dependents, causes))],
  );
}

function packedInvalidation(
  tenant: string,
  dependents: readonly string[],
  causes: readonly (EntityRef | null)[],
): PackedInvalidation {
  if (causes.every((cause) => cause === null)) return [tenant, [...dependents]];
  const numbers = new Map<string, number>();
  const distinct: [string, string][] = [];
  const numberOf = (cause: EntityRef | null) => {
    if (cause === null) return -1;
    const name = `${cause.sourceId}:${cause.originId}`;
    const number = numbers.get(name) ?? distinct.push([cause.sourceId, cause.originId]) - 1;
    numbers.set(name, number);
    return number;
  };
  const ofDependents = causes.map(numberOf);
  return [tenant, [...dependents], distinct, ofDependents];
}
