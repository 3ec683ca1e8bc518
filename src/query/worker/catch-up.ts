import { setImmediate } from 'node:timers/promises';
import type { LiveShard } from './live-shard.ts';

/** Changes and loads give way to queries and leases after this long. */
export const sliceMs = 8;

/** Applies the changes that wait at shards: at once what takes no longer than others may wait, the rest bit by bit. */
export class CatchUp {
  /** Shards with changes that wait; the first one is the next. */
  readonly #behind = new Set<LiveShard>();
  #isRunning = false;

  /** @param onCurrent called when a shard has all its changes that had to wait */
  constructor(private readonly onCurrent: () => void) {}

  /** Applies changes for a slice; the rest follows soon. */
  advance(shards: Iterable<LiveShard>): void {
    const endsMs = performance.now() + sliceMs;
    for (const live of shards) if (!live.advance(endsMs)) this.soon(live);
  }

  soon(live: LiveShard): void {
    this.#behind.add(live);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // Those that are pinned are told of when they are let go.
    for (let live = this.#next(); live !== null; live = this.#next()) {
      await setImmediate();
      if (!live.advance(performance.now() + sliceMs)) continue;
      this.#behind.delete(live);
      this.onCurrent();
    }
    this.#isRunning = false;
  }

  /** In turn. */
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
