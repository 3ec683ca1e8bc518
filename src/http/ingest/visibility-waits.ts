import { visibilityWaitsMax, visibilityWaitsOfTenantMax } from '../../contract/limits.ts';
import type { Progress } from '../../store/visibility/progress.ts';
import type { VersionVector } from '../../store/visibility/version.ts';

/**
 * Writes with `X-Service-Wait` that wait until they are visible on this front. When too many wait, a further one is answered
 * at once: it is accepted already.
 */
export class VisibilityWaits {
  #count = 0;
  readonly #ofTenant = new Map<string, number>();

  constructor(private readonly progress: Pick<Progress, 'waitFor'>) {}

  /** True when everything that a write caused is visible before the time is over. */
  async isVisible(tenant: string, written: VersionVector, waitMs: number): Promise<boolean> {
    const waiting = this.#ofTenant.get(tenant) ?? 0;
    const isFull = this.#count >= visibilityWaitsMax || waiting >= visibilityWaitsOfTenantMax;
    if (isFull) return await this.progress.waitFor(tenant, written, 0);
    this.#add(tenant, 1);
    try {
      return await this.progress.waitFor(tenant, written, waitMs);
    } finally {
      this.#add(tenant, -1);
    }
  }

  #add(tenant: string, change: 1 | -1): void {
    this.#count += change;
    const waiting = (this.#ofTenant.get(tenant) ?? 0) + change;
    if (waiting > 0) this.#ofTenant.set(tenant, waiting);
    else this.#ofTenant.delete(tenant);
  }
}
