/**
 * Compares all stored data with what the entities and the configuration produce. Because writes may be in progress, each
 * difference is checked again after everything announced so far has been processed. It is reported if neither the stored nor
 * the expected state has changed.
 */

import { setTimeout } from 'node:timers/promises';
import type { Configuration } from '../config/configuration.ts';
import { groupBy, portions } from '../lib/lists.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { AutoFields } from '../store/entities/auto-fields.ts';
import { nextMoments, scheduledSources } from '../store/entities/entity-schedule.ts';
import { readOwners } from '../store/ownership/owners.ts';
import { waitUntilSettled } from '../store/partitions/partition-state.ts';
import type { Store } from '../store/store.ts';
import { type CheckCounts, checkEntities, noCounts } from './entity-check.ts';
import { type EntityTarget, type Finding, mergeTargets, type Target, targetKey } from './finding.ts';
import { ReadOnlyLookups } from './read-only-lookups.ts';
import { repairTargets } from './repair.ts';
import { checkRoutes } from './route-check.ts';
import { SourceSnapshots } from './source-snapshots.ts';
import { countTargets, entitiesPerCheck, entityTargets, orphans, sourcePartitions } from './targets.ts';

const pollMs = 50;
/** After this time, a due schedule entry is a difference: no worker runs, or its owner missed it. */
const dueWaitMs = 20_000;

/** Waits until every due schedule entry is processed. @throws StoreUnavailableError */
export async function waitUntilNoneIsDue(store: Store): Promise<void> {
  const endMs = performance.now() + dueWaitMs;
  while (performance.now() < endMs && (await isAnyDue(store))) await setTimeout(pollMs);
}

async function isAnyDue(store: Store): Promise<boolean> {
  const owners = await readOwners(store);
  const due = await Promise.all(
    owners.map(async ({ clockMs }, partition) => {
      const tag = store.partitions.tag(partition);
      const sources = await scheduledSources(store, tag);
      const next = await Promise.all(sources.map((source) => nextMoments(store, tag, source, 1)));
      return next.flat().some(({ atMs }) => atMs <= clockMs);
    }),
  );
  return due.includes(true);
}

/** Number of suspected differences to collect before they are checked again. */
const suspectedMax = 2000;
const roundsMax = 6;

export interface VerifyOptions {
  readonly store: Store;
  readonly configuration: Configuration;
  /** Null for all. */
  readonly tenant: string | null;
  /** True to have owners rewrite what differs. */
  readonly isRepair: boolean;
  onProgress(progress: VerifyProgress): void;
  onDifference(finding: Finding): void;
}

export interface VerifyProgress {
  readonly phase: 'comparing' | 'orphans' | 'settling' | 'repairing';
  /** Entities compared, of about `total`. */
  readonly done: number;
  readonly total: number;
}

export interface VerifyResult extends Readonly<CheckCounts> {
  readonly differences: number;
  /** Targets that changed between all checks, so the result is unknown. */
  readonly unsettled: number;
  /** Number of differences that the repair fixed. */
  readonly repaired: number;
  /** Notes on what could not be checked exactly. */
  readonly notes: readonly string[];
}

interface SuspectedDifference {
  readonly target: Target;
  readonly findings: readonly Finding[];
}

/** @throws StandstillError if there is work but nothing is processed; StoreUnavailableError */
export async function verify(options: VerifyOptions): Promise<VerifyResult> {
  const verification = new Verification(options);
  try {
    return await verification.run();
  } finally {
    verification.close();
  }
}

class Verification {
  readonly #counts = noCounts();
  readonly #notes = new Set<string>();
  readonly #autoFields: AutoFields;
  readonly #sandbox = new Sandbox();
  #lookups: ReadOnlyLookups;
  #suspected = new Map<string, SuspectedDifference>();
  readonly #confirmed: Target[] = [];
  #differences = 0;
  #unsettled = 0;
  #done = 0;
  #total = 0;

  constructor(private readonly options: VerifyOptions) {
    this.#autoFields = new AutoFields(options.store);
    this.#lookups = this.#freshLookups();
  }

  close(): void {
    this.#sandbox.close();
  }

  async run(): Promise<VerifyResult> {
    await this.#compareEntities();
    this.#report('orphans');
    for await (const targets of orphans(this.options.store, this.options.tenant)) {
      await this.#compare(targets);
    }
    await this.#settle();
    const repaired = await this.#repair();
    return {
      ...this.#counts,
      differences: this.#differences,
      unsettled: this.#unsettled,
      repaired,
      notes: [...this.#notes],
    };
  }

  /** New lookups without results of earlier rounds. */
  #freshLookups(): ReadOnlyLookups {
    const { store } = this.options;
    return new ReadOnlyLookups(store, new SourceSnapshots(store, (note) => this.#notes.add(note)));
  }

  #report(phase: VerifyProgress['phase']): void {
    this.options.onProgress({ phase, done: this.#done, total: Math.max(this.#done, this.#total) });
  }

  async #compareEntities(): Promise<void> {
    const { store, configuration, tenant } = this.options;
    const sources = await sourcePartitions(store, configuration, tenant);
    this.#total = await countTargets(store, sources);
    this.#report('comparing');
    for (const source of sources) {
      for await (const targets of entityTargets(store, source)) {
        await this.#compare(targets, this.#counts);
        this.#done += targets.length;
        this.#report('comparing');
      }
    }
  }

  /** Checks targets for the first time. */
  async #compare(targets: readonly Target[], counts = noCounts()): Promise<void> {
    for (const { target, findings } of await this.#check(targets, counts)) {
      if (findings.length === 0) continue;
      const known = this.#suspected.get(targetKey(target));
      this.#suspected.set(targetKey(target), {
        target: known === undefined ? target : mergeTargets(known.target, target),
        findings: [...(known?.findings ?? []), ...findings],
      });
    }
    if (this.#suspected.size > suspectedMax) await this.#settle();
  }

  /** @param counts counts of checked things, to add to */
  async #check(targets: readonly Target[], counts = noCounts()): Promise<SuspectedDifference[]> {
    const { store, configuration } = this.options;
    const context = {
      store,
      configuration,
      autoFields: this.#autoFields,
      lookups: this.#lookups,
      sandbox: this.#sandbox,
    };
    const checked: SuspectedDifference[] = [];
    const entities = targets.filter((target) => target.kind === 'entity');
    const partitionOf = ({ sourceId, originId }: EntityTarget) =>
      store.partitions.ofEntity(sourceId, originId);
    for (const [partition, all] of groupBy(entities, partitionOf)) {
      for (const portion of portions(all, entitiesPerCheck)) {
        const found = await checkEntities(context, partition, portion, counts);
        checked.push(...portion.map((target, index) => ({ target, findings: found[index] ?? [] })));
      }
    }
    const routes = targets.filter((target) => target.kind === 'route');
    const found = await checkRoutes(store, routes);
    checked.push(...routes.map((target, index) => ({ target, findings: found[index] ?? [] })));
    return checked;
  }

  /** Checks suspected differences again, until each is gone, confirmed, or has changed in every round. */
  async #settle(): Promise<void> {
    let open = this.#suspected;
    this.#suspected = new Map();
    for (let round = 0; round < roundsMax && open.size > 0; round += 1) {
      this.#report('settling');
      await waitUntilNoneIsDue(this.options.store);
      await waitUntilSettled(this.options.store);
      this.#lookups = this.#freshLookups();
      open = await this.#recheck(open);
    }
    this.#unsettled += open.size;
  }

  async #recheck(open: ReadonlyMap<string, SuspectedDifference>): Promise<Map<string, SuspectedDifference>> {
    const still = new Map<string, SuspectedDifference>();
    const targets = [...open.values()].map(({ target }) => target);
    for (const { target, findings } of await this.#check(targets)) {
      const before = new Set(open.get(targetKey(target))?.findings.map(({ fingerprint }) => fingerprint));
      const certain = findings.filter(({ fingerprint }) => before.has(fingerprint));
      if (certain.length > 0) this.#confirm(target, certain);
      else if (findings.length > 0) still.set(targetKey(target), { target, findings });
    }
    return still;
  }

  #confirm(target: Target, findings: readonly Finding[]): void {
    const unique = [...new Map(findings.map((finding) => [finding.fingerprint, finding])).values()];
    this.#differences += unique.length;
    this.#confirmed.push(target);
    for (const finding of unique) this.options.onDifference(finding);
  }

  async #repair(): Promise<number> {
    if (!this.options.isRepair || this.#confirmed.length === 0) return 0;
    const found = this.#differences;
    this.#report('repairing');
    await repairTargets(this.options.store, this.#confirmed);
    this.#lookups = this.#freshLookups();
    let left = 0;
    for (const { findings } of await this.#check(this.#confirmed)) {
      left += findings.length;
    }
    return Math.max(0, found - left);
  }
}
