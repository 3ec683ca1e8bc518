/**
 * Moves claims on URLs from one form to another when a configuration requires it, without readers missing one: all processes
 * apply a step before the next one begins. See `store/configuration/url-forms.ts`.
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

/** How long an observation is reused. */
const observationMs = 100;

interface Observation {
  readonly layouts: LayoutStates;
  /** True if every front and every worker has applied the layouts. */
  readonly isApplied: boolean;
}

/** Observes the layouts for the jobs of all partitions. */
export class UrlFormWatch {
  readonly #observation: CachedPromise<Observation>;

  constructor(private readonly store: Store) {
    this.#observation = new CachedPromise(() => observe(store), observationMs);
  }

  /**
   * Makes one step towards the forms that the configuration requires.
   * @returns true if all new claims are written in them. Earlier claims are still to be moved. @throws StoreUnavailableError
   */
  async advance({ current, generation }: ActiveConfiguration): Promise<boolean> {
    const { layouts, isApplied } = await this.#observation.get();
    const open = tenantsOf(current.tenants.keys(), layouts).flatMap((tenant) => {
      const from = layouts.urlFormsOf(tenant);
      const to = nextStep(from, wantedForm(current, tenant));
      return to === null ? [] : [{ generation, tenant, from, to }];
    });
    for (const step of open) {
      // Readers may switch to a form at any time, but claims are only written in it when all readers read it.
      const writesNewForm = step.from.read.includes(step.to.written) && step.from.written !== step.to.written;
      if (!writesNewForm || isApplied) await stepUrlForms(this.store, step);
    }
    if (open.length > 0 || (!isApplied && isMoving(layouts, current))) return false;
    // The observation may be older than a step by the job of another partition for the previous configuration.
    return (await layoutsVersion(this.store)) === layouts.version;
  }

  /** Reports that a partition has no claims in a former form left. @throws StoreUnavailableError */
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

async function observe(store: Store): Promise<Observation> {
  const layouts = await readLayouts(store);
  return { layouts, isApplied: await isAppliedByAll(store, layouts, ['web', 'worker']) };
}

function tenantsOf(configured: Iterable<string>, layouts: LayoutStates): string[] {
  return [...new Set([...configured, ...layouts.tenantsWithUrlForms])];
}

function isMoving(layouts: LayoutStates, current: ActiveConfiguration['current']): boolean {
  return layouts.tenantsWithUrlForms.some(
    (tenant) => !isSettled(layouts.urlFormsOf(tenant), wantedForm(current, tenant)),
  );
}
