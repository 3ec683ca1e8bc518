/**
 * Sends commits to Redis. The partitions of a worker get their entries from one read and compute in turns, so many of their
 * commits arrive in one turn of the event loop. On a single Redis these are sent in one call, which spreads the cost of the
 * call and of each partition of claims and references over hundreds of entities instead of a dozen (bench/README.md "Fast
 * paths"). A call makes all of its commits or none; each partition is still fenced and numbered separately. If one commit is
 * refused, each is sent again alone, so that the others succeed.
 */

import { type ReferenceChanges, referencesForLua } from '../change-log/references.ts';
import type { ClaimWrite } from '../claims/claim-records.ts';
import { changesKept, claimParts, claimsPerCall, packClaims } from '../claims/claims.ts';
import { keys } from '../keys.ts';
import type { Lease } from '../ownership/lease.ts';
import { type LuaValue, packForLua } from '../redis/lua-list.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';

const commitScript = new OwnerScript<number[]>('partitions/commit', 1, claimParts);

/** Maximum bytes of a call with several commits. It blocks Redis for about ten milliseconds. */
const bytesPerCall = 256 * 1024;

export interface PreparedCommit {
  readonly lease: Lease;
  /** The format for `scripts/partitions/commit.lua`. */
  readonly packable: LuaValue;
  /** Packed writes to its partition. */
  readonly lists: readonly Buffer[];
  readonly claims: readonly ClaimWrite[];
  readonly references: ReferenceChanges;
}

interface Waiting {
  readonly commit: PreparedCommit;
  readonly resolve: (number: number) => void;
  readonly reject: (error: unknown) => void;
}

const callsOf = new WeakMap<Store, CommitCalls>();

/**
 * @returns number of the commit
 * @throws FencedError, StoreUnavailableError
 */
export function sendCommit(store: Store, commit: PreparedCommit): Promise<number> {
  const calls = callsOf.get(store) ?? new CommitCalls(store);
  callsOf.set(store, calls);
  return calls.send(commit);
}

class CommitCalls {
  #waiting: Waiting[] = [];

  constructor(private readonly store: Store) {}

  send(commit: PreparedCommit): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#sendAll());
    });
  }

  #sendAll(): void {
    while (this.#waiting.length > 0) void this.#call(this.#take());
  }

  /** Takes as many commits as fit into a call, at least one. */
  #take(): Waiting[] {
    const tags = new Set<string>();
    let [bytes, claims] = [0, 0];
    for (const { commit } of this.#waiting) {
      const { lease, lists } = commit;
      bytes += lists.reduce((sum, { length }) => sum + length, 0);
      claims += commit.claims.length;
      const isFull = bytes > bytesPerCall || claims > claimsPerCall || tags.has(lease.tag);
      if (tags.size > 0 && (isFull || !this.#mayShareCall(lease))) break;
      tags.add(lease.tag);
    }
    return this.#waiting.splice(0, tags.size);
  }

  /** In a cluster a call can only use one slot. A call can only check one history. */
  #mayShareCall({ onlyIn }: Lease): boolean {
    return this.store.address.kind === 'single' && onlyIn === this.#waiting[0]?.commit.lease.onlyIn;
  }

  async #call(group: readonly Waiting[]): Promise<void> {
    try {
      const numbers = await this.#commit(group.map(({ commit }) => commit));
      for (const [index, { resolve }] of group.entries()) resolve(numbers[index] ?? 0);
    } catch (error) {
      if (group.length === 1 || error instanceof StoreUnavailableError) {
        for (const { reject } of group) reject(error);
      } else for (const one of group) void this.#call([one]);
    }
  }

  #commit(commits: readonly PreparedCommit[]): Promise<number[]> {
    const { store } = this;
    const [first] = commits;
    if (first === undefined) return Promise.resolve([]);
    const { lease } = first;
    const claims = commits.map((commit) => ({ tag: commit.lease.tag, claims: commit.claims }));
    const references = commits.map((commit) => commit.references);
    return commitScript.run(
      store.client,
      lease,
      [keys.owner(lease.tag)],
      [
        changesKept,
        packForLua(commits.map(({ packable }) => packable)),
        packClaims(store, claims),
        ...commits.flatMap(({ lists }) => lists),
        packForLua(referencesForLua(store, references)),
      ],
    );
  }
}
