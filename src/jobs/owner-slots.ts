import { Semaphore } from '../lib/semaphore.ts';

/**
 * Each worker rebuilds one of its partitions at a time. Two would compete for their worker, and for cores that readers
 * need. A worker that does not go on holds up only its own partitions.
 */
export class OwnerSlots {
  readonly #users = new Map<string, { readonly turns: Semaphore; count: number }>();

  /** @param owner null for partitions that nobody owns now, which are treated as those of one worker. @returns see `Semaphore` */
  async take(owner: string | null): Promise<() => void> {
    const key = owner ?? '';
    const user = this.#users.get(key) ?? { turns: new Semaphore(1), count: 0 };
    this.#users.set(key, user);
    user.count += 1;
    const release = await user.turns.acquire();
    return () => {
      release();
      user.count -= 1;
      // Workers come and go under new names.
      if (user.count === 0) this.#users.delete(key);
    };
  }

  /** Owners with a partition that is rebuilt or waits for it. */
  get size(): number {
    return this.#users.size;
  }
}
