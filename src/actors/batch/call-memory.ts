/**
 * Limits the memory of code calls that continue after their batches, over all partitions of a worker. Above the limit, builds
 * of the tenant with the largest share are canceled, so that no tenant is locked out by a larger one.
 */

/** A build with calls in flight. */
export interface OpenBuild {
  readonly tenant: string;
  /** Size of the arguments of its calls and of their replies so far. */
  readonly characters: number;
  /** Cancels its calls and drops their replies. The build starts over when there is room. */
  cancel(): void;
}

/** The builds of one tenant. */
interface TenantShare {
  /** Characters of each build, oldest first. */
  readonly builds: Map<OpenBuild, number>;
  characters: number;
}

export class CallMemory {
  readonly #tenants = new Map<string, TenantShare>();
  /** Tenants that were rejected since the last release. */
  readonly #rejected = new Set<string>();
  readonly #onRoom = new Set<() => void>();
  #held = 0;

  constructor(private readonly charactersMax: number) {}

  /** Calls `listener` when rejected tenants can try again. @returns unsubscribes */
  onRoom(listener: () => void): () => void {
    this.#onRoom.add(listener);
    return () => void this.#onRoom.delete(listener);
  }

  isFullFor(tenant: string): boolean {
    return this.#rejected.has(tenant);
  }

  /** Reserves room for a build. @returns false if there is none */
  reserve(build: OpenBuild): boolean {
    const own = this.#heldBy(build.tenant) + build.characters;
    while (this.#held > 0 && this.#held + build.characters > this.charactersMax) {
      const largest = this.#largest();
      if (largest === null || this.#heldBy(largest.tenant) <= own) {
        this.#rejected.add(build.tenant);
        return false;
      }
      this.#cancel(largest);
    }
    this.#add(build, build.characters);
    return true;
  }

  /** Counts a reply. Above the limit, builds are canceled, except the last one. */
  grow(build: OpenBuild, characters: number): void {
    const held = this.#tenants.get(build.tenant)?.builds.get(build);
    if (held === undefined) return;
    this.#add(build, characters);
    while (this.#held > this.charactersMax && this.#isShared) {
      const largest = this.#largest();
      if (largest === null) return;
      this.#cancel(largest);
    }
  }

  /** Releases the room of a finished build. Canceled builds have already been released. */
  release(build: OpenBuild): void {
    this.#remove(build);
    if (this.#rejected.size === 0) return;
    this.#rejected.clear();
    for (const listener of this.#onRoom) listener();
  }

  /** True when more than one build has calls in flight. */
  get #isShared(): boolean {
    const [first, second] = this.#tenants.values();
    return second !== undefined || (first?.builds.size ?? 0) > 1;
  }

  /** The newest build of the tenant with the largest share. */
  #largest(): OpenBuild | null {
    let most: TenantShare | null = null;
    for (const held of this.#tenants.values()) {
      if (most === null || held.characters > most.characters) most = held;
    }
    return [...(most?.builds.keys() ?? [])].at(-1) ?? null;
  }

  #heldBy(tenant: string): number {
    return this.#tenants.get(tenant)?.characters ?? 0;
  }

  #cancel(build: OpenBuild): void {
    this.#remove(build);
    build.cancel();
  }

  #add(build: OpenBuild, characters: number): void {
    const held = this.#tenants.get(build.tenant) ?? { builds: new Map<OpenBuild, number>(), characters: 0 };
    this.#tenants.set(build.tenant, held);
    held.builds.set(build, (held.builds.get(build) ?? 0) + characters);
    held.characters += characters;
    this.#held += characters;
  }

  #remove(build: OpenBuild): void {
    const held = this.#tenants.get(build.tenant);
    const characters = held?.builds.get(build);
    if (held === undefined || characters === undefined) return;
    held.builds.delete(build);
    held.characters -= characters;
    this.#held -= characters;
    if (held.builds.size === 0) this.#tenants.delete(build.tenant);
  }
}
