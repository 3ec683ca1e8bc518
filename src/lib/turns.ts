/**
 * A round-robin queue: limits concurrent work per owner and in total. Owners take turns, so no owner waits for all the work
 * of another.
 */

/** Ends a turn. */
export type EndOfTurn = () => void;

export interface TurnLimits {
  /** Maximum number of concurrent turns. */
  readonly atOnceMax: number;
  /** Maximum number of concurrent turns per owner. */
  readonly ofOwnerMax: number;
  /** Maximum number of waiting turns per owner. */
  readonly waitingMax: number;
  /** Thrown when the queue is full. */
  readonly refusal: () => Error;
}

interface Owner {
  running: number;
  readonly waiting: ((end: EndOfTurn) => void)[];
}

export class Turns {
  /** Owners with running or waiting work. The owner of the latest turn is last. */
  readonly #owners = new Map<unknown, Owner>();
  #running = 0;

  constructor(private readonly limits: TurnLimits) {}

  /** Turns that have not ended. */
  get running(): number {
    return this.#running;
  }

  /**
   * Waits for a turn. The caller must end it.
   * @param of the owner of the work
   * @throws the refusal if the owner has too many waiting turns
   */
  async turn(of: unknown): Promise<EndOfTurn> {
    const owner = this.#owners.get(of) ?? { running: 0, waiting: [] };
    if (owner.waiting.length >= this.limits.waitingMax) throw this.limits.refusal();
    this.#owners.set(of, owner);
    return new Promise((resolve) => {
      owner.waiting.push(resolve);
      this.#next();
    });
  }

  /** Does work in a turn. @throws as `turn`; what the work throws */
  async run<T>(of: unknown, work: () => Promise<T>): Promise<T> {
    const end = await this.turn(of);
    try {
      return await work();
    } finally {
      end();
    }
  }

  #next(): void {
    const { atOnceMax, ofOwnerMax } = this.limits;
    for (const [of, owner] of this.#owners) {
      if (this.#running === atOnceMax) return;
      if (owner.running === ofOwnerMax) continue;
      const begin = owner.waiting.shift();
      if (begin === undefined) continue;
      this.#running += 1;
      owner.running += 1;
      this.#owners.delete(of);
      this.#owners.set(of, owner);
      begin(() => this.#end(of, owner));
      return;
    }
  }

  #end(of: unknown, owner: Owner): void {
    this.#running -= 1;
    owner.running -= 1;
    if (owner.running === 0 && owner.waiting.length === 0) this.#owners.delete(of);
    this.#next();
  }
}
