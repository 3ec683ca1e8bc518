/** What the batches of a partition have put outside it, or were about to, and no commit has stored yet. */
import { type Intent, intentField, noteIntents, readIntents } from '../store/intents.ts';
import type { Lease } from '../store/lease.ts';
import type { Store } from '../store/store.ts';
import type { Suspect } from '../store/suspects.ts';

/** The entity that an intent is about. */
export interface IntentOwner {
  readonly tenantAlias: string;
  readonly sourceId: string;
  readonly originId: string;
}

export class Intents {
  private constructor(
    private readonly store: Store,
    private readonly lease: Lease,
    /** By `intentField`. */
    private readonly open: Map<string, Intent>,
  ) {}

  /** With what a former owner left. @throws StoreUnavailableError */
  static async load(store: Store, lease: Lease): Promise<Intents> {
    return new Intents(store, lease, await readIntents(store, lease.tag));
  }

  /** Null when everything that was ever put outside for the entity is in its processed record. */
  of(tenant: string, sourceId: string, originId: string): Intent | null {
    return this.open.get(intentField(tenant, sourceId, originId)) ?? null;
  }

  /** Notes what is about to be put, beside what was noted before. @throws FencedError, StoreUnavailableError */
  async note(additions: Iterable<readonly [owner: IntentOwner, about: readonly Suspect[]]>): Promise<void> {
    const noted = new Map<string, Intent>();
    for (const [owner, about] of additions) {
      if (about.length === 0) continue;
      const field = fieldOf(owner);
      noted.set(field, [...(noted.get(field) ?? this.open.get(field) ?? []), ...about]);
    }
    await noteIntents(this.store, this.lease, noted);
    for (const [field, intent] of noted) this.open.set(field, intent);
  }

  /** Those of these entities that a commit has to delete from `keys.intents`. */
  fieldsOf(owners: readonly IntentOwner[]): string[] {
    return owners.map(fieldOf).filter((field) => this.open.has(field));
  }

  /** Called after the commit that deleted them. */
  settle(fields: readonly string[]): void {
    for (const field of fields) this.open.delete(field);
  }
}

function fieldOf({ tenantAlias, sourceId, originId }: IntentOwner): string {
  return intentField(tenantAlias, sourceId, originId);
}
