/** A bounded number of tenants run code at a time. Those that wait get their turns by the processor time that they have used. */
import { FairShares } from './fair-shares.ts';

export class Turns {
  readonly #waiting = new Map<string, () => void>();
  readonly #shares = new FairShares();

  constructor(private free: number) {}

  /** Settles when it is the tenant's turn; a tenant asks for one turn at a time. */
  async begin(tenant: string): Promise<void> {
    if (this.free === 0) await new Promise<void>((enter) => this.#waiting.set(tenant, enter));
    else this.free -= 1;
  }

  /** @param usedMs processor time of the turn */
  end(tenant: string, usedMs: number): void {
    this.#shares.charge(tenant, usedMs);
    if (this.#waiting.size === 0) {
      this.free += 1;
      return;
    }
    const next = this.#shares.next(this.#waiting.keys());
    const enter = this.#waiting.get(next);
    this.#waiting.delete(next);
    enter?.();
  }
}
