/**
 * Brings the claims of tenants on URLs from one form to the other when a configuration asks for it, so that no reader
 * misses one: all processes know of a step before the next one. See `store/configuration/url-forms.ts`.
 */
import { CachedPromise } from '../lib/shared-promises.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import { type LayoutStates, layoutsVersion, readLayouts } from '../store/configuration/layouts.ts';
import {
  isSettled,
  nextStep,
  noteMoved,
  stepUrlForms,
  wantedForm,
} from '../store/configuration/url-forms.ts';
import type { Store } from '../store/store.ts';
import { isAppliedByAll } from './applied-by-all.ts';

/** How long one look serves. */
const sightMs = 100;

interface Sight {
  readonly layouts: LayoutStates;
  /** True when every front and every worker knows the layouts. */
  readonly isKnown: boolean;
}

/** Looks on behalf of the jobs of all partitions. */
export class UrlFormWatch {
  readonly #sight: CachedPromise<Sight>;

  constructor(private readonly store: Store) {
    this.#sight = new CachedPromise(() => sightOf(store), sightMs);
  }

  /**
   * One step towards the forms that the configuration requires.
   * @returns true when all claims are put in them. Those that were put before are still to be moved. @throws
   * StoreUnavailableError
   */
  async advance({ current, generation }: ActiveConfiguration): Promise<boolean> {
    const { layouts, isKnown } = await this.#sight.get();
    const open = tenantsOf(current.tenants.keys(), layouts).flatMap((tenant) => {
      const from = layouts.urlFormsOf(tenant);
      const to = nextStep(from, wantedForm(current, tenant));
      return to === null ? [] : [{ generation, tenant, from, to }];
    });
    for (const step of open) {
      // Readers may switch to a form at any time, but claims are only moved to it when all readers use it.
      const isTold = step.from.read.includes(step.to.written) && step.from.written !== step.to.written;
      if (!isTold || isKnown) await stepUrlForms(this.store, step);
    }
    if (open.length > 0 || (!isKnown && isMoving(layouts, current))) return false;
    // The look may be older than a step that the job of another partition made for the configuration before this one.
    return (await layoutsVersion(this.store)) === layouts.version;
  }

  /** Says that a partition has no claims in a former form left. @throws StoreUnavailableError */
  async noteMoved({ current, generation }: ActiveConfiguration, partition: number): Promise<void> {
    const layouts = await readLayouts(this.store);
    for (const tenant of layouts.tenantsWithUrlForms) {
      const state = layouts.urlFormsOf(tenant);
      const wanted = wantedForm(current, tenant);
      if (state.written !== wanted || isSettled(state, wanted)) continue;
      await noteMoved(this.store, generation, partition, tenant, state);
    }
  }
}

async function sightOf(store: Store): Promise<Sight> {
  const layouts = await readLayouts(store);
  return { layouts, isKnown: await isAppliedByAll(store, layouts, ['web', 'worker']) };
}

function tenantsOf(configured: Iterable<string>, layouts: LayoutStates): string[] {
  return [...new Set([...configured, ...layouts.tenantsWithUrlForms])];
}

function isMoving(layouts: LayoutStates, current: ActiveConfiguration['current']): boolean {
  return layouts.tenantsWithUrlForms.some(
    (tenant) => !isSettled(layouts.urlFormsOf(tenant), wantedForm(current, tenant)),
  );
}
