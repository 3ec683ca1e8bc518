/**
 * Bounds what the calls of all partitions of a worker hold while they are under way behind their batches. When it is too much,
 * builds of the tenant that holds the most give up their place, so that nobody is kept out by others who have more.
 */

/** A build whose calls are under way. */
export interface OpenBuild {
  readonly tenant: string;
  /** Of what its calls are given. */
  readonly characters: number;
  /** Ends its calls. It begins again when there is room. */
  giveUp(): void;
}

export class OpenCharacters {
  /** Tenant -> its builds, those that came first at the front. */
  readonly #tenants = new Map<string, Set<OpenBuild>>();
  /** Tenants that were refused since something was given back. */
  readonly #refused = new Set<string>();
  readonly #onRoom = new Set<() => void>();
  #held = 0;

  constructor(private readonly charactersMax: number) {}

  /** Calls `listener` when a tenant that was refused may ask again. @returns ends that */
  onRoom(listener: () => void): () => void {
    this.#onRoom.add(listener);
    return () => void this.#onRoom.delete(listener);
  }

  isFullFor(tenant: string): boolean {
    return this.#refused.has(tenant);
  }

  /** @returns false when there is no room for it */
  take(build: OpenBuild): boolean {
    const own = this.#heldBy(build.tenant) + build.characters;
    while (this.#held > 0 && this.#held + build.characters > this.charactersMax) {
      const largest = this.#largest();
      if (largest === null || this.#heldBy(largest.tenant) <= own) {
        this.#refused.add(build.tenant);
        return false;
      }
      this.#remove(largest);
      largest.giveUp();
    }
    const builds = this.#tenants.get(build.tenant) ?? new Set<OpenBuild>();
    this.#tenants.set(build.tenant, builds.add(build));
    this.#held += build.characters;
    return true;
  }

  /** The calls of a build are over. One that gave up is unknown already. */
  give(build: OpenBuild): void {
    this.#remove(build);
    if (this.#refused.size === 0) return;
    this.#refused.clear();
    for (const listener of this.#onRoom) listener();
  }

  /** The last build of the tenant that holds the most. */
  #largest(): OpenBuild | null {
    let [most, last]: [number, OpenBuild | null] = [-1, null];
    for (const [tenant, builds] of this.#tenants) {
      const held = this.#heldBy(tenant);
      if (held > most) [most, last] = [held, [...builds].at(-1) ?? null];
    }
    return last;
  }

  #heldBy(tenant: string): number {
    let characters = 0;
    for (const build of this.#tenants.get(tenant) ?? []) characters += build.characters;
    return characters;
  }

  #remove(build: OpenBuild): void {
    const builds = this.#tenants.get(build.tenant);
    if (builds?.delete(build) !== true) return;
    this.#held -= build.characters;
    if (builds.size === 0) this.#tenants.delete(build.tenant);
  }
}
