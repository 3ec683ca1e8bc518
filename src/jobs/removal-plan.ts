/** Finds what a new configuration would remove, and how much data it has, so that it can be confirmed first. */

import type { Configuration } from '../config/configuration.ts';
import { type Removal, removalsBetween } from '../config/documents/removals.ts';
import { sum } from '../lib/lists.ts';
import { counted } from '../lib/message-text.ts';
import { asTyped } from '../lib/typed-command.mjs';
import { scanProcessed } from '../store/derived/processed.ts';
import type { ProcessedOutput } from '../store/derived/processed-record.ts';
import { countEntities } from '../store/entities/entities.ts';
import { indexName } from '../store/keys.ts';
import type { SourceRef } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';

/** A removed part of the configuration, and the amount of its stored data. */
export interface Loss {
  readonly removal: Removal;
  entities: number;
  views: number;
  items: number;
}

/** The removals that have data, the largest scope first. @throws StoreUnavailableError */
export async function lossesBetween(
  store: Store,
  before: Configuration,
  after: Configuration,
): Promise<readonly Loss[]> {
  const losses = removalsBetween(before, after, indexName).map(
    (removal): Loss => ({ removal, entities: 0, views: 0, items: 0 }),
  );
  for (const loss of losses) {
    for (const sourceId of loss.removal.sourceIds) {
      loss.entities += await entitiesOf(store, { tenant: loss.removal.tenant, sourceId });
    }
  }
  for (const tenant of new Set(losses.map(({ removal }) => removal.tenant))) {
    const ofTenant = losses.filter(({ removal }) => removal.tenant === tenant);
    const lossOf = new Map<string, Loss | undefined>();
    for (const sourceId of before.tenants.get(tenant)?.sources.keys() ?? []) {
      await forEachOutput(store, { tenant, sourceId }, (output) => {
        // Cached by schema and environment, because there may be many outputs and many removals.
        const { kind, name, environmentId } = output;
        const place = JSON.stringify([sourceId, environmentId, kind, name]);
        if (!lossOf.has(place)) {
          lossOf.set(
            place,
            ofTenant.find(({ removal }) => removal.takes({ sourceId, ...output })),
          );
        }
        const loss = lossOf.get(place);
        if (loss === undefined) return;
        if (output.kind === 'view') loss.views += 1;
        else loss.items += 1;
      });
    }
  }
  return losses.filter(({ entities, views, items }) => entities + views + items > 0);
}

/** A message with a line for each loss. */
export function lossesText(losses: readonly Loss[]): string {
  const lines = lossLines(losses).map((line) => `  ${line}`);
  const isUnreachable = losses.some(({ entities }) => entities > 0);
  return [
    'This configuration no longer has:',
    ...lines,
    'Their views, routes and index items are deleted immediately.',
    ...(isUnreachable
      ? [asTyped('Their entities stay stored but inaccessible until npm run purge deletes them.')]
      : []),
  ].join('\n');
}

/** A line for each loss: `schema page of tenant acme: 3 views`. */
export function lossLines(losses: readonly Loss[]): string[] {
  return losses.map((loss) => `${nameOf(loss.removal)}: ${amountsOf(loss)}`);
}

/** Text on one line: `tenant acme (12 entities, 12 views), schema page of tenant acme (3 views)`. */
export function lossesLine(losses: readonly Loss[]): string {
  return losses.map((loss) => `${nameOf(loss.removal)} (${amountsOf(loss)})`).join(', ');
}

function nameOf({ tenant, kind, name }: Removal): string {
  return kind === 'tenant' ? `tenant ${tenant}` : `${kind} ${name} of tenant ${tenant}`;
}

function amountsOf({ entities, views, items }: Loss): string {
  const amounts = [
    [entities, 'entity', 'entities'],
    [views, 'view', 'views'],
    [items, 'index item', 'index items'],
  ] as const;
  return amounts
    .filter(([count]) => count > 0)
    .map(([count, singular, plural]) => counted(count, singular, plural))
    .join(', ');
}

/** Number of entities of a source in all partitions. @throws StoreUnavailableError */
export async function entitiesOf(store: Store, { tenant, sourceId }: SourceRef): Promise<number> {
  const counts = await Promise.all(
    store.partitions.tags.map((_, partition) => countEntities(store, partition, tenant, sourceId)),
  );
  return sum(counts);
}

/**
 * Calls `visit` for every view and item built from the source's entities, for some twice while Redis resizes a hash.
 * @throws StoreUnavailableError
 */
export async function forEachOutput(
  store: Store,
  { tenant, sourceId }: SourceRef,
  visit: (output: ProcessedOutput) => void,
): Promise<void> {
  await Promise.all(
    store.partitions.tags.map(async (tag) => {
      for await (const records of scanProcessed(store, tag, tenant, sourceId)) {
        for (const { record } of records) for (const output of record.outputs) visit(output);
      }
    }),
  );
}
