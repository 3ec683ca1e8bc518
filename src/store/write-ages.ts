/** How long the oldest write of a front has waited for workers that are at work: of all writes one every so often is looked at. */
import type { VersionVector } from './types.ts';

/** Writes that are looked at are this far apart. */
const intervalMs = 25;
/** As many of them are kept; while workers are away for longer no more are taken. */
const keptMax = 400;
/** Workers that have done none of them for so long are away. */
const awayMs = 3_000;

interface Write {
  readonly version: VersionVector;
  readonly writtenMs: number;
}

export class WriteAges {
  /** Those that are not known to be done, the oldest first. */
  readonly #waiting: Write[] = [];
  #notedMs = Number.NEGATIVE_INFINITY;
  /** When one was last seen to be done. */
  #doneMs = Number.NEGATIVE_INFINITY;

  /** @param checkpointOf up to which entry the stream of a partition is done */
  constructor(private readonly checkpointOf: (partition: number) => number) {}

  note(version: VersionVector, nowMs: number): void {
    if (nowMs - this.#notedMs < intervalMs || this.#waiting.length >= keptMax) return;
    this.#notedMs = nowMs;
    this.#waiting.push({ version, writtenMs: nowMs });
  }

  /** 0 when all is done, and while the workers are away: whoever writes then has nobody to wait for. */
  oldestMs(nowMs: number): number {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (!this.#isDone(first.version)) return this.#isAway(first, nowMs) ? 0 : nowMs - first.writtenMs;
      this.#waiting.shift();
      this.#doneMs = nowMs;
    }
    return 0;
  }

  #isAway({ writtenMs }: Write, nowMs: number): boolean {
    return nowMs - Math.max(writtenMs, this.#doneMs) > awayMs;
  }

  #isDone(version: VersionVector): boolean {
    for (const [partition, sequence] of version) if (this.checkpointOf(partition) < sequence) return false;
    return true;
  }
}
