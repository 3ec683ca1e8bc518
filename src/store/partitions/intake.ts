/**
 * The stream of a partition: changed entities, and views and items to rebuild; only ids, never content. Its owner reads it in
 * portions and merges each portion into one unit of work per entity.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { unpack } from '../codec/pack.ts';
import { type Dependent, parseDependent, type Suspect, suspectOf } from '../derived/dependents.ts';
import { keys } from '../keys.ts';
import type { StreamSource } from '../streams/shared-streams.ts';
import { type StreamEntry, StreamReader } from '../streams/stream.ts';

export type IntakeEntry =
  | {
      readonly kind: 'entities';
      readonly sequence: number;
      readonly tenant: string;
      readonly sourceId: string;
      readonly originIds: readonly string[];
      /** Total size of the entities when they were announced. */
      readonly bytes: number;
    }
  | {
      readonly kind: 'invalidation';
      readonly sequence: number;
      readonly tenant: string;
      /** From `formatDependent`. */
      readonly dependents: readonly string[];
      /** For each dependent, the entity whose change invalidated it; null if unknown. */
      readonly causes: readonly (EntityRef | null)[];
    };

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

/** Identifies an entity in a store. */
interface EntityName {
  readonly tenant: string;
  readonly sourceId: string;
  readonly originId: string;
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

  addEntity(tenant: string, sourceId: string, originId: string): void {
    this.#work(tenant, sourceId, originId).only = null;
  }

  /** @param caused the formatted dependent, and the entity whose change causes its rebuild */
  addDependent(
    tenant: string,
    dependent: Dependent,
    caused: readonly [string, EntityRef] | null = null,
  ): void {
    const work = this.#work(tenant, dependent.sourceId, dependent.originId);
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

  #work(tenant: string, sourceId: string, originId: string): EntityWork {
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
      const { tenant, dependents, causes, sequence } = entry;
      this.#invalidations.push({ tenant, dependents, causes, sequence });
      this.#dependents += dependents.length;
    } else {
      for (const originId of entry.originIds)
        this.#mailboxes.addEntity(entry.tenant, entry.sourceId, originId);
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
