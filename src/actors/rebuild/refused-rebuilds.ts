/**
 * Views and items whose schema is not run for now (`sandbox/conduct.ts`). Nothing would tell when it is run again, so each
 * schema is tried now and then: with one of its outputs first, and with more and more of them while none is refused.
 */
import { kindOf } from './rebuild-queue.ts';

const growth = 4;
const triedAtOnceMax = 500;
/** Between tries of which none is refused. */
const betweenTriesMs = 200;

export interface Refused {
  readonly tenant: string;
  readonly dependent: string;
  /** How long its schema is not run. */
  readonly retryInMs: number;
}

interface Kind {
  readonly waiting: Map<string, Refused>;
  /** How many are tried next. */
  size: number;
  notBeforeMs: number;
  /** True from a refusal to the next try. */
  isResting: boolean;
}

export class RefusedRebuilds {
  readonly #kinds = new Map<string, Kind>();

  add(refused: Refused, nowMs: number): void {
    const name = `${refused.tenant} ${kindOf(refused.dependent)}`;
    const kind = this.#kinds.get(name) ?? newKind();
    this.#kinds.set(name, kind);
    kind.waiting.set(refused.dependent, refused);
    if (kind.isResting) return;
    kind.notBeforeMs = nowMs + refused.retryInMs;
    kind.size = 1;
    kind.isResting = true;
  }

  /** Takes out what is tried now. */
  take(nowMs: number): Refused[] {
    const taken: Refused[] = [];
    for (const kind of this.#kinds.values()) {
      if (kind.waiting.size === 0 || kind.notBeforeMs > nowMs) continue;
      const tried = [...kind.waiting.values()].slice(0, kind.size);
      for (const { dependent } of tried) kind.waiting.delete(dependent);
      taken.push(...tried);
      kind.size = Math.min(triedAtOnceMax, kind.size * growth);
      kind.notBeforeMs = nowMs + betweenTriesMs;
      kind.isResting = false;
    }
    return taken;
  }

  /** Milliseconds until something is tried: 0 now, null when nothing waits. */
  readyInMs(nowMs: number): number | null {
    let soonestMs: number | null = null;
    for (const { waiting, notBeforeMs } of this.#kinds.values()) {
      if (waiting.size === 0) continue;
      soonestMs = Math.min(soonestMs ?? Number.POSITIVE_INFINITY, Math.max(0, notBeforeMs - nowMs));
    }
    return soonestMs;
  }
}

function newKind(): Kind {
  return { waiting: new Map(), size: 1, notBeforeMs: 0, isResting: false };
}
