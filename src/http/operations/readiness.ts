/**
 * Says what a front still waits for before it can serve, and what it has to serve without (docs/reference/http.md
 * "Health, metrics and the OpenAPI document").
 */
import { asTyped } from '../../lib/typed-command.mjs';
import { groupHolders } from '../../query/front/group-holders.ts';
import type { ActiveConfiguration } from '../../store/configuration/active-configuration.ts';
import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import { findShortages, type Shortages } from '../../store/redis/shortages.ts';
import type { Store } from '../../store/store.ts';

export interface ReadinessParts {
  readonly store: Store;
  readonly configuration: Pick<ActiveConfiguration, 'loaded'>;
  readonly progress: { readonly ready: boolean };
  readonly draining: () => boolean;
}

/** Reasons in words. */
export interface Readiness {
  /**
   * Empty when the front is ready: it has the configuration and Redis, and every index is loaded. Every partition has an
   * owner, or all its shards are held as copies.
   */
  readonly waitingFor: readonly string[];
  /** Shortages while requests are answered; empty when there are none. */
  readonly degraded: readonly string[];
}

/** Asks the registry and Redis. It never throws: a Redis that does not answer is one of the reasons. */
export async function readinessOf({
  store,
  configuration,
  progress,
  draining,
}: ReadinessParts): Promise<Readiness> {
  const waitingFor: string[] = [];
  if (draining()) waitingFor.push('this front is stopping');
  if (!configuration.loaded) waitingFor.push('the configuration');
  if (!progress.ready) waitingFor.push('the state of the partitions');
  try {
    const [processes, shortages] = await Promise.all([liveProcesses(store), findShortages(store)]);
    const workers = processes.filter(({ role }) => role === 'worker');
    const unowned = unownedReasons(store.partitions.count, workers);
    const degraded = [...jobsReasons(processes), ...shortageReasons(shortages)];
    // Shard copies answer without an owner: a load balancer must not take the fronts away then.
    if (haveCopies(workers)) return { waitingFor, degraded: [...unowned, ...degraded] };
    const loads = workers.flatMap(({ id, waitingFor }) => waitingFor.map((what) => `worker ${id}: ${what}`));
    return { waitingFor: [...waitingFor, ...unowned, ...loads], degraded };
  } catch {
    return { waitingFor: [...waitingFor, 'Redis'], degraded: [] };
  }
}

/** True when workers hold copies of the shards of all partitions. */
function haveCopies(workers: readonly ProcessBeat[]): boolean {
  return groupHolders(workers.map(({ shardCopies }) => ({ groups: shardCopies?.ready ?? [] }))) !== null;
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

function jobsReasons(processes: readonly ProcessBeat[]): string[] {
  if (processes.some(({ role }) => role === 'jobs')) return [];
  return [
    asTyped('no jobs process runs (npm run jobs): rebuilds after a change of configuration wait for one'),
  ];
}

function shortageReasons({ isFull, areMessagesFull, missingReplicas }: Shortages): string[] {
  const reasons: string[] = [];
  if (isFull) reasons.push('Redis is full (maxmemory): saves are refused until it has room');
  if (areMessagesFull) reasons.push('the Redis of MESSAGES_URL is full (maxmemory)');
  if (missingReplicas > 0) {
    reasons.push(
      `${missingReplicas} of the replicas that CONFIRM_REPLICAS asks for are away: saves are refused until they are back`,
    );
  }
  return reasons;
}
