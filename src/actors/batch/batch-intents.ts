/** The write-ahead notes of a partition: effects in other partitions that no commit has recorded yet. */

import type { Suspect } from '../../store/derived/dependents.ts';
import {
  type Intent,
  type IntentNote,
  intentName,
  intentOwner,
  readIntents,
  recordIntents,
} from '../../store/derived/intents.ts';
import type { Lease } from '../../store/ownership/lease.ts';
import { type EntityWork, wholeTurn } from '../../store/partitions/intake.ts';
import type { EntityName } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';

/** Limit of a note, which is one value in Redis. */
const suspectsPerNote = 5_000;

export class Intents {
  /** Notes of the current batch, by field. Its commit settles them all. */
  #own = new Map<string, IntentNote>();
  #lastNote = 0;
  /** Entities in the commit being prepared; null when there are no earlier notes. */
  #settling: ReadonlySet<string> | null = null;

  private constructor(
    private readonly store: Store,
    private readonly lease: Lease,
    /** Notes of batches that did not commit, by field, without the entities that later commits settled. */
    private readonly uncommitted: Map<string, Map<string, Intent>>,
  ) {}

  /** Reads the notes of the previous owner. @throws StoreUnavailableError */
  static async load(store: Store, lease: Lease): Promise<Intents> {
    const notes = await readIntents(store, lease.tag);
    return new Intents(store, lease, new Map([...notes].map(([field, note]) => [field, new Map(note)])));
  }

  /** Begins a batch or its retry. Notes of the last attempt then count as uncommitted. */
  begin(): void {
    for (const [field, note] of this.#own) this.uncommitted.set(field, new Map(note));
    this.#own = new Map();
  }

  /** Null if the processed record of the entity includes all of its effects in other partitions. */
  of(entity: EntityName): Intent | null {
    if (this.uncommitted.size === 0) return null;
    const name = intentName(entity);
    const found = [...this.uncommitted.values()].flatMap((note) => note.get(name) ?? []);
    return found.length === 0 ? null : found;
  }

  /** Turns of the entities in uncommitted notes. For a deleted entity, the note may be the only trace of its effects. */
  get works(): EntityWork[] {
    const names = new Set([...this.uncommitted.values()].flatMap((note) => [...note.keys()]));
    return [...names].map((name) => wholeTurn(intentOwner(name)));
  }

  /** Notes what the batch is about to write for its entities. @throws FencedError, StoreUnavailableError */
  async note(additions: Iterable<readonly [owner: EntityName, about: readonly Suspect[]]>): Promise<void> {
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
      const name = intentName(owner);
      const known = note.get(name);
      note.set(name, known === undefined ? about : [...known, ...about]);
      suspects += about.length;
    }
    await recordIntents(this.store, this.lease, notes);
    for (const [field, noted] of notes) this.#own.set(field, noted);
  }

  /** Fields of `keys.intents` that a commit of these entities has to delete; `settle` must follow it. */
  settledBy(owners: readonly EntityName[]): string[] {
    const fields = [...this.#own.keys()];
    this.#settling = this.uncommitted.size === 0 ? null : new Set(owners.map(intentName));
    for (const [field, note] of this.uncommitted) if (this.#isSettled(note)) fields.push(field);
    return fields;
  }

  /** Called after the commit of those entities. */
  settle(): void {
    this.#own = new Map();
    for (const [field, note] of this.uncommitted) {
      if (this.#isSettled(note)) this.uncommitted.delete(field);
      else for (const name of this.#settling ?? []) note.delete(name);
    }
    this.#settling = null;
  }

  #isSettled(note: IntentNote): boolean {
    for (const name of note.keys()) if (!this.#settling?.has(name)) return false;
    return true;
  }
}
