/**
 * What is in a partition's stream: entities that changed, and views and items to rebuild. Ids only, never content. Its owner
 * takes it in portions, each merged into one work for each entity.
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
      /** Size of the entities when they were announced. */
      readonly bytes: number;
    }
  | {
      readonly kind: 'invalidation';
      readonly sequence: number;
      readonly tenant: string;
      /** As `formatDependent` writes them. */
      readonly dependents: readonly string[];
      /** For each dependent the entity whose change invalidated it; null if unknown. */
      readonly causes: readonly (EntityRef | null)[];
    };

/** Causes are listed once, and for each dependent the number of its own; -1 for none. */
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

  /** As `StreamReader.next`. */
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

/** Which entity, of all in a store. */
interface EntityName {
  readonly tenant: string;
  readonly sourceId: string;
  readonly originId: string;
}

/** One entity's turn: all its outputs, or only those that are named. */
export interface EntityWork extends EntityName {
  /** Null: everything. */
  only: Dependent[] | null;
  /** Schemas whose actions for its last change are still to be run; absent: none. */
  actions?: Dependent[];
  /**
   * A repair: everything is written as if nothing were stored. What is named here is removed, unless it is a present
   * output.
   */
  repair: Suspect[] | null;
  /** Dependent, as it is written -> the entity whose change causes its rebuild; absent where none is known. */
  causes?: Map<string, EntityRef>;
  /** Moments of the schedule that ask for the turn; absent: none. */
  moments?: number[];
}

/** Tells one entity of a store from all others. */
export function nameOfWork({ tenant, sourceId, originId }: EntityName): string {
  return `${tenant}:${sourceId}:${originId}`;
}

/** A turn for all outputs of an entity. */
export function wholeTurn({ tenant, sourceId, originId }: EntityName): EntityWork {
  return { tenant, sourceId, originId, only: null, repair: null };
}

/** The mailboxes of a batch: later changes of one entity merge into its one turn. */
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

  /** @param caused the dependent as it is written, and the entity whose change causes its rebuild */
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

/** A stream entry that asks for rebuilds. */
export interface Invalidation {
  readonly tenant: string;
  readonly dependents: readonly string[];
  /** For each dependent the entity whose change invalidated it; null if unknown. */
  readonly causes: readonly (EntityRef | null)[];
  readonly sequence: number;
}

/** A portion of the stream that is committed together. */
export interface IntakePortion {
  readonly works: readonly EntityWork[];
  readonly invalidations: readonly Invalidation[];
  /** Last entry of the portion. */
  readonly sequence: number;
  /** How large it is, in parts of the largest: 1 to `portionParts`. */
  readonly parts: number;
}

export const portionParts = 8;
const entitiesPerPortion = 400;
const dependentsPerPortion = 2000;
const bytesPerPortion = 16 * 1024 * 1024;

/** Cuts entries that were read into portions of bounded count and size, in order. */
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

  /** Share of the largest portion: 0 when empty, 1 and more when it is full. */
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

/** Work for pending rebuilds. */
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
