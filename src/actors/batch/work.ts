/** What a batch is made of. */
import type { Dependent } from '../../store/derived/dependents.ts';
import { parseDependent } from '../../store/derived/dependents.ts';
import { type Suspect, suspectOf } from '../../store/derived/suspects.ts';
import type { IntakeEntry } from '../../store/streams/intake.ts';

/** One entity's turn: all it makes, or only the views and items named. */
export interface EntityWork {
  readonly tenant: string;
  readonly sourceId: string;
  readonly originId: string;
  /** Null: everything. */
  only: Dependent[] | null;
  /** A repair: all is written as if nothing were stored, and what is named here goes unless it is made now. */
  repair: Suspect[] | null;
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

  addDependent(tenant: string, dependent: Dependent): void {
    const work = this.#work(tenant, dependent.sourceId, dependent.originId);
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
    const key = `${tenant}:${sourceId}:${originId}`;
    const known = this.#works.get(key);
    if (known !== undefined) return known;
    const work: EntityWork = { tenant, sourceId, originId, only: [], repair: null };
    this.#works.set(key, work);
    return work;
  }
}

/** A portion of the stream that is committed together. */
export interface IntakePortion {
  readonly works: readonly EntityWork[];
  readonly marks: readonly {
    readonly tenant: string;
    readonly members: readonly string[];
    readonly sequence: number;
  }[];
  /** Last entry of the portion. */
  readonly sequence: number;
  /** How large it is, in parts of the largest: 1 to `portionParts`. */
  readonly parts: number;
}

export const portionParts = 8;
const entitiesPerPortion = 400;
const membersPerPortion = 2000;
const bytesPerPortion = 16 * 1024 * 1024;

/** Cuts entries that were read into portions of bounded count and size, in order. */
export function* portionsOf(entries: readonly IntakeEntry[]): Generator<IntakePortion> {
  let portion = new PortionInTheMaking();
  for (const entry of entries) {
    portion.add(entry);
    if (portion.fullness < 1) continue;
    yield portion.made;
    portion = new PortionInTheMaking();
  }
  if (portion.fullness > 0) yield portion.made;
}

class PortionInTheMaking {
  readonly #mailboxes = new Mailboxes();
  readonly #marks: { tenant: string; members: readonly string[]; sequence: number }[] = [];
  #bytes = 0;
  #members = 0;
  #sequence = 0;

  add(entry: IntakeEntry): void {
    this.#sequence = entry.sequence;
    if (entry.kind === 'marks') {
      this.#marks.push(entry);
      this.#members += entry.members.length;
    } else {
      for (const originId of entry.originIds)
        this.#mailboxes.addEntity(entry.tenant, entry.sourceId, originId);
      this.#bytes += entry.bytes;
    }
  }

  /** 0 of nothing, 1 and more of what is to go by itself. */
  get fullness(): number {
    if (this.#mailboxes.size === 0 && this.#marks.length === 0) return 0;
    return Math.max(
      Number.MIN_VALUE,
      this.#mailboxes.size / entitiesPerPortion,
      this.#bytes / bytesPerPortion,
      this.#members / membersPerPortion,
    );
  }

  get made(): IntakePortion {
    const parts = Math.min(portionParts, Math.ceil(this.fullness * portionParts));
    return { works: this.#mailboxes.works, marks: this.#marks, sequence: this.#sequence, parts };
  }
}

/** Work for members of the rebuild queue. */
export function rebuildWorks(members: readonly { tenant: string; member: string }[]): EntityWork[] {
  const mailboxes = new Mailboxes();
  for (const { tenant, member } of members) {
    const dependent = parseDependent(member);
    if (dependent !== null) mailboxes.addDependent(tenant, dependent);
  }
  return mailboxes.works;
}
