/** `GET /management/v1/status`: the state of the platform (docs/reference/management.md). */

import type { Tenant } from '../../config/configuration.ts';
import { platformVersion } from '../../config/settings/platform-version.ts';
import type { StatusAnswer } from '../../contract/shapes-management.ts';
import { rebuildJobs, rebuildState } from '../../jobs/rebuild-job-queue.ts';
import { closing } from '../../lib/closing.ts';
import { sum } from '../../lib/lists.ts';
import { readGenerations } from '../../store/configuration/published-configuration.ts';
import { countItems, listItemIndexes, type ScopedIndex } from '../../store/derived/items.ts';
import { indexLabel } from '../../store/keys.ts';
import { readBacklog } from '../../store/partitions/partition-state.ts';
import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import { readMemory } from '../../store/redis/server-state.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import { recentRatesEveryMs } from '../operations/front-load.ts';
import type { Services } from '../services.ts';

export function managementStatus({ store, recentRates }: Services): Handler {
  return async (call) => {
    const [processes, partitions, rebuilds, indexes, redis] = await Promise.all([
      liveProcesses(store),
      partitionsOf(store),
      rebuildsOf(store, call.manager.tenant),
      indexesOf(store, call.manager.tenant),
      readMemory(store),
    ]);
    return jsonAnswer<StatusAnswer>(200, {
      version: platformVersion,
      processes: processes.map(processStatus),
      partitions,
      rebuilds,
      indexes,
      redis,
      recent: { everyMs: recentRatesEveryMs, rates: recentRates.samples },
    });
  };
}

function processStatus(process: ProcessBeat): StatusAnswer['processes'][number] {
  const { id, role, host, pid, version = null, generation, partitions, waitingFor } = process;
  const { requestsPerSecond, rates, shardCopies } = process;
  const optional = {
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(rates !== undefined && { rates }),
    ...(shardCopies !== undefined && { shardCopies }),
  };
  return { id, role, host, pid, version, generation, partitions, waitingFor, ...optional };
}

async function partitionsOf(store: Store): Promise<StatusAnswer['partitions']> {
  return await Promise.all(
    store.partitions.tags.map(async (_, partition) => {
      const { owner, entries, lagMs } = await readBacklog(store, partition);
      return { partition, owner, backlog: entries, lagMs };
    }),
  );
}

/** The rebuild for the active configuration while it runs, with its progress for the tenant. */
async function rebuildsOf(store: Store, { alias }: Tenant): Promise<StatusAnswer['rebuilds']> {
  const { active } = await readGenerations(store);
  const { isDone, scanned, total, startedAtMs } = await closing(rebuildJobs(store), (queue) =>
    rebuildState(store, queue, active, alias),
  );
  if (isDone) return [];
  const what = `configuration ${active}`;
  return [{ what, done: scanned, total, etaSeconds: etaSeconds(scanned, total, startedAtMs) }];
}

/** Estimated seconds left at the rate so far; null while the rate is unknown. */
function etaSeconds(done: number, total: number, startedAtMs: number | null): number | null {
  if (startedAtMs === null || done === 0) return null;
  const passedSeconds = (Date.now() - startedAtMs) / 1000;
  return Math.max(0, Math.round((passedSeconds * (total - done)) / done));
}

/** Indexes of the tenant that have items, or once had. */
async function indexesOf(store: Store, { alias, environments }: Tenant): Promise<StatusAnswer['indexes']> {
  const lists = await Promise.all(
    store.partitions.tags.map((_, partition) => listItemIndexes(store, partition)),
  );
  const known = new Map<string, ScopedIndex>();
  for (const index of lists.flat()) {
    if (index.scope.tenant === alias) known.set(`${index.scope.environmentId} ${index.index}`, index);
  }
  return await Promise.all(
    [...known.values()].map(async (index) => ({
      index: indexLabel(index.index),
      environment:
        environments.find(({ id }) => id === index.scope.environmentId)?.alias ?? index.scope.environmentId,
      items: await itemsOf(store, index),
    })),
  );
}

/** Number of items of an index in all partitions. @throws StoreUnavailableError */
export async function itemsOf(store: Store, index: ScopedIndex): Promise<number> {
  const counts = await Promise.all(
    store.partitions.tags.map((_, partition) => countItems(store, partition, index)),
  );
  return sum(counts);
}
