import { setImmediate } from 'node:timers/promises';
import { shardSliceMs } from '../../contract/limits.ts';
import type { LiveShard } from './live-shard.ts';

/** Applies the changes that wait at shards. For one slice they are applied at once, the others bit by bit. */
export class CatchUp {
  /** Shards with changes that wait; the first one is the next. */
  readonly #behind = new Set<LiveShard>();
  #isRunning = false;

  /** @param onCurrent called when no change waits at a shard any more that had to wait */
  constructor(private readonly onCurrent: () => void) {}

  /** Applies changes for a slice. The others follow soon. */
  advance(shards: Iterable<LiveShard>): void {
    const endsMs = performance.now() + shardSliceMs;
    for (const live of shards) if (!live.advance(endsMs)) this.soon(live);
  }

  soon(live: LiveShard): void {
    this.#behind.add(live);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // Pinned shards are left out here. `soon` is called for each when its last pin goes.
    for (let live = this.#next(); live !== null; live = this.#next()) {
      await setImmediate();
      if (!live.advance(performance.now() + shardSliceMs)) continue;
      this.#behind.delete(live);
      this.onCurrent();
    }
    this.#isRunning = false;
  }

  /** The next shard that is not pinned. Shards take turns. */
  #next(): LiveShard | null {
    for (const live of this.#behind) {
      if (live.isPinned) continue;
      this.#behind.delete(live);
      this.#behind.add(live);
      return live;
    }
    return null;
  }
}
