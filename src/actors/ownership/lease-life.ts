/** The lifecycle of a partition at its owner, under one lease. */
import { assert } from '../../lib/assert.ts';

/** `withdrawn`: to be released before its items are loaded. `draining`: to be released after the current batch. */
type State = 'opening' | 'serving' | 'withdrawn' | 'draining' | 'ended';

/** `stopped`: the lease is lost or to be released. `ended`: all work here has ended. */
type Event = 'loaded' | 'stopped' | 'ended';

/** Null if the event cannot occur in that state. */
const after: Readonly<Record<State, Readonly<Record<Event, State | null>>>> = {
  opening: { loaded: 'serving', stopped: 'withdrawn', ended: 'ended' },
  serving: { loaded: null, stopped: 'draining', ended: 'ended' },
  withdrawn: { loaded: 'draining', stopped: 'withdrawn', ended: 'ended' },
  draining: { loaded: null, stopped: 'draining', ended: 'ended' },
  ended: { loaded: null, stopped: 'ended', ended: null },
};

export class LeaseLife {
  #state: State = 'opening';

  on(event: Event): void {
    const next = after[this.#state][event];
    assert(next !== null, `a partition that is ${this.#state} is not ${event}`);
    this.#state = next;
  }

  /** True if it can answer queries. */
  get isLoaded(): boolean {
    return this.#state === 'serving' || this.#state === 'draining';
  }

  /** True if it accepts new work. */
  get acceptsWork(): boolean {
    return this.#state === 'opening' || this.#state === 'serving';
  }

  get isEnded(): boolean {
    return this.#state === 'ended';
  }
}
