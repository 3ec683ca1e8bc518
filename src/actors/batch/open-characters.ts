/**
 * Bounds what the calls of all partitions of a worker hold while they are under way behind their batches. When it is too much,
 * builds of the tenant that holds the most give up their place, so that nobody is kept out by others who have more.
 */

/** A build whose calls are under way. */
export interface OpenBuild {
  readonly tenant: string;
  /** Of what its calls are given, and of their replies so far. */
  readonly characters: number;
  /** Ends its calls and drops their replies. It begins again when there is room. */
  giveUp(): void;
}

interface Held {
  /** With their characters; those that came first at the front. */
  readonly builds: Map<OpenBuild, number>;
  characters: number;
}

export class OpenCharacters {
  readonly #tenants = new Map<string, Held>();
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
      this.#end(largest);
    }
    this.#add(build, build.characters);
    return true;
  }

  /** A reply came. Where that is too much, builds give up, except the last one that is left. */
  grow(build: OpenBuild, characters: number): void {
    const held = this.#tenants.get(build.tenant)?.builds.get(build);
    if (held === undefined) return;
    this.#add(build, characters);
    while (this.#held > this.charactersMax && this.#isShared) {
      const largest = this.#largest();
      if (largest === null) return;
      this.#end(largest);
    }
  }

  /** The calls of a build are over. One that gave up is unknown already. */
  give(build: OpenBuild): void {
    this.#remove(build);
    if (this.#refused.size === 0) return;
    this.#refused.clear();
    for (const listener of this.#onRoom) listener();
  }

  /** More than one build is under way. */
  get #isShared(): boolean {
    const [first, second] = this.#tenants.values();
    return second !== undefined || (first?.builds.size ?? 0) > 1;
  }

  /** The last build of the tenant that holds the most. */
  #largest(): OpenBuild | null {
    let most: Held | null = null;
    for (const held of this.#tenants.values()) {
      if (most === null || held.characters > most.characters) most = held;
    }
    return [...(most?.builds.keys() ?? [])].at(-1) ?? null;
  }

  #heldBy(tenant: string): number {
    return this.#tenants.get(tenant)?.characters ?? 0;
  }

  #end(build: OpenBuild): void {
    this.#remove(build);
    build.giveUp();
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
