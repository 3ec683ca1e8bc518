/** Waits until no moment of the schedule is due that has not been processed. */
import { setTimeout } from 'node:timers/promises';
import { nextMoments, scheduledSources } from '../store/entities/entity-schedule.ts';
import { readOwners } from '../store/partitions/owners.ts';
import type { Store } from '../store/store.ts';

const pollMs = 50;
/** What is due for longer is a difference: no worker runs, or the owner has missed it. */
const patienceMs = 20_000;

/** @throws StoreUnavailableError */
export async function waitUntilNoneIsDue(store: Store): Promise<void> {
  const endMs = performance.now() + patienceMs;
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
