/** Tells how busy the fronts are now. The busier they are, the more of the machine a rebuild leaves to them. */
import { KeptLook } from '../lib/kept-look.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';

/** How long a figure serves; fronts tell theirs once a second. */
const freshMs = 500;
/** Below so many requests a second nobody reads: a probe or two. */
const readersFromPerSecond = 1;
/**
 * A rest is so many times as long as the rebuild before it. Five times leaves most of the owner's time to fresh changes, and
 * the cores to requests. The slowest hundredth of deliveries takes about 1.5 times as long meanwhile, at most twice. With
 * three times, they took longer than that. With few requests, a shorter rest lets the rebuild end sooner.
 */
const restFactors = { idle: 1, busy: 5 };
/** Fronts count as busy from so many requests a second, those of a single reader. Below, rests grow with the requests. */
const busyPerSecond = 20;
const restMaxMs = 2_000;

export class FrontLoad {
  readonly #perSecond: KeptLook<number>;

  constructor(store: Store) {
    this.#perSecond = new KeptLook(() => requestsPerSecondOfAll(store), freshMs);
  }

  /** Requests that all fronts together answer in a second. @throws StoreUnavailableError */
  perSecond(): Promise<number> {
    return this.#perSecond.get();
  }

  /** True while nobody reads who could notice a rebuild. @throws StoreUnavailableError */
  async areUnread(): Promise<boolean> {
    return restFactor(await this.perSecond()) === 0;
  }

  /** How long readers want a rest after so long a piece of work, in ms. @throws StoreUnavailableError */
  async restMs(tookMs: number): Promise<number> {
    return Math.min(restMaxMs, tookMs * restFactor(await this.perSecond()));
  }
}

/** Length of a rest as a multiple of the work before it. @param perSecond requests that the fronts answer */
export function restFactor(perSecond: number): number {
  if (perSecond < readersFromPerSecond) return 0;
  const { idle, busy } = restFactors;
  return idle + (busy - idle) * Math.min(1, perSecond / busyPerSecond);
}

async function requestsPerSecondOfAll(store: Store): Promise<number> {
  const processes = await liveProcesses(store);
  return processes.reduce((sum, { requestsPerSecond = 0 }) => sum + requestsPerSecond, 0);
}
