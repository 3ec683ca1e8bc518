/** What the batches of a partition have put outside it, or were about to put, while no commit has stored it yet. */

import type { Suspect } from '../../store/derived/dependents.ts';
import {
  type Intent,
  type IntentNote,
  intentName,
  intentOwner,
  noteIntents,
  readIntents,
} from '../../store/derived/intents.ts';
import type { Lease } from '../../store/ownership/lease.ts';
import { type EntityWork, wholeTurn } from '../../store/partitions/intake.ts';
import type { Store } from '../../store/store.ts';

/** The entity that an intent is about. */
export interface IntentOwner {
  readonly tenantAlias: string;
  readonly sourceId: string;
  readonly originId: string;
}

/** Suspects of one note, which is one value in Redis. */
const suspectsPerNote = 5_000;

export class Intents {
  /** Notes of the batch under way, by field: a commit of it settles them all. */
  #own = new Map<string, IntentNote>();
  #lastNote = 0;
  /** Entities whose turns the coming commit holds; null when no earlier notes are open. */
  #settling: ReadonlySet<string> | null = null;

  private constructor(
    private readonly store: Store,
    private readonly lease: Lease,
    /** Notes of batches that came to no commit, by field, without the entities that others have settled since. */
    private readonly left: Map<string, Map<string, Intent>>,
  ) {}

  /** Begins with the notes that a former owner left. @throws StoreUnavailableError */
  static async load(store: Store, lease: Lease): Promise<Intents> {
    const notes = await readIntents(store, lease.tag);
    return new Intents(store, lease, new Map([...notes].map(([field, note]) => [field, new Map(note)])));
  }

  /** Begins a batch, or begins it again: what it noted before counts as left from then on. */
  begin(): void {
    for (const [field, note] of this.#own) this.left.set(field, new Map(note));
    this.#own = new Map();
  }

  /** Null when everything that was ever put outside for the entity is in its processed record. */
  of(tenant: string, sourceId: string, originId: string): Intent | null {
    if (this.left.size === 0) return null;
    const name = intentName(tenant, sourceId, originId);
    const found = [...this.left.values()].flatMap((note) => note.get(name) ?? []);
    return found.length === 0 ? null : found;
  }

  /** Turns of the entities in notes that are left. For an entity that is gone only the note may tell what was put. */
  get works(): EntityWork[] {
    const names = new Set([...this.left.values()].flatMap((note) => [...note.keys()]));
    return [...names].map((name) => wholeTurn(intentOwner(name)));
  }

  /** Notes what the batch is about to put for its entities. @throws FencedError, StoreUnavailableError */
  async note(additions: Iterable<readonly [owner: IntentOwner, about: readonly Suspect[]]>): Promise<void> {
    const notes = new Map<string, Map<string, Intent>>();
    let note: Map<string, Intent> | null = null;
    let suspects = 0;
    for (const [owner, about] of additions) {
      if (about.length === 0) continue;
      if (note === null || suspects >= suspectsPerNote) {
        note = new Map();
        suspects = 0;
        this.#lastNote += 1;
        notes.set(`${this.lease.epoch}.${this.#lastNote}`, note);
      }
      const name = nameOf(owner);
      const known = note.get(name);
      note.set(name, known === undefined ? about : [...known, ...about]);
      suspects += about.length;
    }
    await noteIntents(this.store, this.lease, notes);
    for (const [field, noted] of notes) this.#own.set(field, noted);
  }

  /** Fields of `keys.intents` that a commit of these entities has to delete; `settle` must follow it. */
  settledBy(owners: readonly IntentOwner[]): string[] {
    const fields = [...this.#own.keys()];
    this.#settling = this.left.size === 0 ? null : new Set(owners.map(nameOf));
    for (const [field, note] of this.left) if (this.#isSettled(note)) fields.push(field);
    return fields;
  }

  /** Called after the commit of those entities. */
  settle(): void {
    this.#own = new Map();
    for (const [field, note] of this.left) {
      if (this.#isSettled(note)) this.left.delete(field);
      else for (const name of this.#settling ?? []) note.delete(name);
    }
    this.#settling = null;
  }

  #isSettled(note: IntentNote): boolean {
    for (const name of note.keys()) if (!this.#settling?.has(name)) return false;
    return true;
  }
}

function nameOf({ tenantAlias, sourceId, originId }: IntentOwner): string {
  return intentName(tenantAlias, sourceId, originId);
}
