/**
 * `npm run purge`: deletes the entities of tenants and sources that are no longer in the active configuration, with everything
 * built from them. Jobs do the work, so it continues if this command is interrupted.
 */

import type { Configuration } from '../config/configuration.ts';
import { type PurgeCounts, type PurgeJobs, purgeJobs, purgeState } from '../jobs/purge-job.ts';
import { entitiesOf, forEachOutput } from '../jobs/removal-plan.ts';
import { closing } from '../lib/closing.ts';
import { counted } from '../lib/message-text.ts';
import { beginPurge, readPurge } from '../store/configuration/purge-state.ts';
import { processedSources } from '../store/derived/processed.ts';
import { AutoFields } from '../store/entities/auto-fields.ts';
import { type SourceRef, sourceField } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';
import { waitForJobs } from './platform/job-wait.ts';
import { activeConfiguration, withCommandStore } from './platform/open-store.ts';
import { CommandStop, readArguments, requireConsent, runCommand } from './terminal/command-line.ts';
import { type PercentBar, percentOf, withBar } from './terminal/percent-bar.ts';

const continuesText = 'The purge continues without this command. To follow it: npm run purge';

/** A source that is no longer in the configuration, with the amount of its stored data. */
interface OrphanedSource extends SourceRef {
  readonly entities: number;
  readonly views: number;
  readonly items: number;
}

async function main(): Promise<number> {
  const isSure = readArguments('purge').values.yes === true;
  return await withCommandStore(async (store) => {
    const token = (await readPurge(store))?.token ?? (await begin(store, isSure));
    if (token !== null) await finish(store, token);
    return 0;
  });
}

/** Begins a purge, after confirmation. @returns token of the purge; null if there is nothing to purge */
async function begin(store: Store, isSure: boolean): Promise<string | null> {
  const { configuration, generation } = await activeConfiguration(store, null);
  const found = await orphanedSources(store, configuration);
  if (found.length === 0) {
    console.log('Nothing to purge: all stored data belongs to the active configuration.');
    return null;
  }
  console.log(orphanedSourcesText(found, configuration));
  await requireConsent(isSure, 'Delete them permanently?');
  const token = await beginPurge(store, generation, found);
  if (token === null) throw new CommandStop('The configuration changed meanwhile. Run npm run purge again.');
  return token;
}

async function orphanedSources(store: Store, { tenants }: Configuration): Promise<OrphanedSource[]> {
  const known = await Promise.all(store.partitions.tags.map((tag) => processedSources(store, tag)));
  const unused = new Map(
    known
      .flat()
      .filter(({ tenant, sourceId }) => tenants.get(tenant)?.sources.has(sourceId) !== true)
      .map((source) => [sourceField(source), source]),
  );
  const autoFields = new AutoFields(store);
  const found: OrphanedSource[] = [];
  for (const source of unused.values()) {
    const entities = await entitiesOf(store, source);
    if (entities === 0 && !(await autoFields.hasDecided(source.tenant, source.sourceId))) continue;
    let [views, items] = [0, 0];
    await forEachOutput(store, source, ({ kind }) => {
      if (kind === 'view') views += 1;
      else items += 1;
    });
    found.push({ ...source, entities, views, items });
  }
  return found;
}

function orphanedSourcesText(found: readonly OrphanedSource[], { tenants }: Configuration): string {
  const lines = found.map(({ tenant, sourceId, entities, views, items }) => {
    const amounts = [
      counted(entities, 'entity', 'entities'),
      ...(views > 0 ? [counted(views, 'view')] : []),
      ...(items > 0 ? [counted(items, 'index item')] : []),
    ];
    const whose = tenants.has(tenant) ? `tenant ${tenant}` : `tenant ${tenant}, which is also removed`;
    return `  source ${sourceId} of ${whose}: ${amounts.join(', ')}`;
  });
  return ['The active configuration no longer has:', ...lines].join('\n');
}

async function finish(store: Store, token: string): Promise<void> {
  await closing(purgeJobs(store), async (queue) => {
    await queue.addAll({ token });
    console.log(
      summary(await withBar(continuesText, (bar, signal) => untilPurged(store, queue, token, bar, signal))),
    );
  });
}

async function untilPurged(
  store: Store,
  queue: PurgeJobs,
  token: string,
  bar: PercentBar,
  signal: AbortSignal,
): Promise<PurgeCounts> {
  let state = await purgeState(queue, token);
  await waitForJobs(store, 'purge', bar, signal, async () => {
    state = await purgeState(queue, token);
    const { counts, total, isDone, failure } = state;
    const percent = isDone ? 100 : percentOf(counts.entities, total);
    bar.show(percent, `${counted(counts.entities, 'entity', 'entities')} purged`);
    if (failure === null) return isDone;
    throw new CommandStop(`The purge failed permanently: ${failure}. Run npm run purge again to retry.`);
  });
  return state.counts;
}

function summary({ entities, views, items, claims, lookups, fieldTypes }: PurgeCounts): string {
  return (
    `Purged ${counted(entities, 'entity', 'entities')}, ${counted(views, 'view')}, ${counted(items, 'index item')}, ` +
    `${counted(claims, 'URL and handle', 'URLs and handles')}, ${counted(lookups, 'lookup entry', 'lookup entries')} and ` +
    `${counted(fieldTypes, 'type of an auto-index', 'types of auto-indexes')}.`
  );
}

await runCommand(main);
