/** What a front still waits for before it can serve (contract section 1 "/health/ready"). */
import type { ActiveConfiguration } from '../store/configuration.ts';
import { liveProcesses } from '../store/registry.ts';
import type { Store } from '../store/store.ts';

export interface ReadinessParts {
  readonly store: Store;
  readonly configuration: Pick<ActiveConfiguration, 'loaded'>;
  readonly progress: { readonly ready: boolean };
  readonly draining: () => boolean;
}

/** Reasons in words, empty when ready: configuration, Redis, an owner of every partition, every index loaded. */
export async function waitingFor(parts: ReadinessParts): Promise<string[]> {
  const { store, configuration, progress, draining } = parts;
  const reasons: string[] = [];
  if (draining()) reasons.push('this front is stopping');
  if (!configuration.loaded) reasons.push('the configuration');
  if (!progress.ready) reasons.push('the state of the partitions');
  try {
    const processes = await liveProcesses(store);
    const workers = processes.filter(({ role }) => role === 'worker');
    reasons.push(...unownedReasons(store.partitions.count, workers));
    reasons.push(
      ...workers.flatMap((worker) => worker.waitingFor.map((what) => `worker ${worker.id}: ${what}`)),
    );
  } catch {
    reasons.push('Redis');
  }
  return reasons;
}

function unownedReasons(
  count: number,
  workers: readonly { readonly partitions: readonly number[] }[],
): string[] {
  const owned = new Set(workers.flatMap(({ partitions }) => partitions));
  const unowned = Array.from({ length: count }, (_, partition) => partition).filter(
    (partition) => !owned.has(partition),
  );
  if (unowned.length === 0) return [];
  if (unowned.length === count) return ['a worker'];
  return [`an owner of partition ${unowned.join(', ')}`];
}
