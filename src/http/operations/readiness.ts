/**
 * Whether a front can serve, and which faults there are (docs/reference/http.md "Health, metrics and the OpenAPI document"). A
 * front waits for the whole platform only once. Afterwards it stays ready despite faults that all fronts share: otherwise a
 * load balancer would remove all of them at once.
 */

import { platformVersion } from '../../config/settings/platform-version.ts';
import { problems } from '../../contract/errors.ts';
import { oneFlight } from '../../lib/shared-promises.ts';
import { asTyped } from '../../lib/typed-command.mjs';
import { groupHolders } from '../../query/front/worker-list.ts';
import type { ActiveConfiguration } from '../../store/configuration/active-configuration.ts';
import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import { readServerState, type ServerState, servesReads } from '../../store/redis/server-state.ts';
import { findShortages, type Shortages } from '../../store/redis/shortages.ts';
import type { Store } from '../../store/store.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import type { FrontMetrics } from './front-metrics.ts';

export interface ReadinessParts {
  readonly store: Store;
  readonly configuration: Pick<ActiveConfiguration, 'loaded'>;
  readonly progress: { readonly ready: boolean };
  /** Each worker that this front cannot reach, and why. */
  readonly unreachableWorkers: () => readonly string[];
  readonly draining: () => boolean;
}

/** Values of the label `what` of `millrace_degraded`. */
export const faultKinds = [
  'partitions',
  'indexes',
  'workers',
  'store_full',
  'disk_full',
  'replicas',
  'jobs',
  'versions',
  'redis',
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** Something that is wrong while requests are served. */
export interface Fault {
  readonly kind: FaultKind;
  readonly reason: string;
}

export interface Readiness {
  /** Reasons; empty when the front is ready. */
  readonly waitingFor: readonly string[];
  readonly isRedisReachable: boolean;
  /** Empty while Redis is unreachable, because other faults are unknown then. */
  readonly faults: readonly Fault[];
  /** Faults that this check could not determine: their last known state applies. */
  readonly unknown: readonly FaultKind[];
  /** Partitions without an owner; null while unknown. */
  readonly partitionsWithoutOwner: number | null;
  /** Null while Redis does not answer. */
  readonly server: ServerState | null;
}

/** Results of the reads of a check; null if a read failed. */
interface Findings {
  readonly processes: readonly ProcessBeat[] | null;
  readonly shortages: Shortages | null;
  readonly server: ServerState | null;
  readonly isRedisReachable: boolean;
}

export class FrontReadiness {
  #wasReady = false;

  constructor(private readonly parts: ReadinessParts) {}

  /** Checks the registry and Redis. It never throws: an unreachable Redis is one of the reasons. */
  async check(): Promise<Readiness> {
    const { store, progress } = this.parts;
    const findings = await find(store);
    const workers = findings.processes?.filter(({ role }) => role === 'worker') ?? [];
    const unowned = partitionsWithoutOwner(store.partitions.count, workers);
    const waitingFor = this.#ownReasons(findings.isRedisReachable);
    const faults = lastingFaults(findings);
    const platform =
      findings.processes === null ? [] : workerFaults(store.partitions.count, workers, unowned);
    platform.push(...this.parts.unreachableWorkers().map(unreachableFault));
    if (this.#wasReady) {
      if (!progress.ready) platform.push(unknownStateFault);
      faults.unshift(...platform);
    } else {
      if (!progress.ready) waitingFor.push('the state of the partitions');
      // Copies of shards answer queries without an owner.
      if (haveCopies(workers)) faults.unshift(...platform);
      else waitingFor.push(...platform.map(({ missing }) => missing));
      this.#wasReady = waitingFor.length === 0 && findings.processes !== null;
    }
    return {
      waitingFor,
      isRedisReachable: findings.isRedisReachable,
      faults,
      unknown: unknownKinds(findings),
      partitionsWithoutOwner: findings.processes === null ? null : unowned.length,
      server: findings.server,
    };
  }

  /** Reasons why this front itself cannot serve. */
  #ownReasons(isRedisReachable: boolean): string[] {
    const { configuration, draining } = this.parts;
    const reasons: string[] = [];
    if (draining()) reasons.push('this front is stopping');
    if (!configuration.loaded) reasons.push('the configuration');
    if (!isRedisReachable) reasons.push('Redis');
    return reasons;
  }
}

async function find(store: Store): Promise<Findings> {
  const [processes, shortages, server] = await Promise.all([
    liveProcesses(store).catch(() => null),
    findShortages(store).catch(() => null),
    readServerState(store).catch(() => null),
  ]);
  const isComplete = processes !== null && shortages !== null && server !== null;
  return { processes, shortages, server, isRedisReachable: isComplete || (await servesReads(store)) };
}

function unknownKinds({ processes, shortages, server }: Findings): FaultKind[] {
  const kinds: FaultKind[] = [];
  if (processes === null) kinds.push('partitions', 'indexes', 'jobs', 'versions');
  if (shortages === null) kinds.push('store_full', 'replicas');
  if (server === null) kinds.push('disk_full');
  return kinds;
}

/** True if workers hold copies of the shards of all partitions. */
function haveCopies(workers: readonly ProcessBeat[]): boolean {
  return groupHolders(workers.map(({ shardCopies }) => ({ groups: shardCopies?.ready ?? [] }))) !== null;
}

function partitionsWithoutOwner(count: number, workers: readonly ProcessBeat[]): number[] {
  const owned = new Set(workers.flatMap(({ partitions }) => partitions));
  return Array.from({ length: count }, (_, partition) => partition).filter(
    (partition) => !owned.has(partition),
  );
}

interface WorkerFault extends Fault {
  /** The fault as an entry of `waitingFor`. */
  readonly missing: string;
}

function workerFaults(
  count: number,
  workers: readonly ProcessBeat[],
  unowned: readonly number[],
): WorkerFault[] {
  const faults = workers.flatMap(({ id, waitingFor }) =>
    waitingFor.map((what): WorkerFault => {
      const missing = `worker ${id}: ${what}`;
      return { kind: 'indexes', reason: `an index is loading: ${missing}`, missing };
    }),
  );
  if (unowned.length === 0) return faults;
  const which = `partition ${unowned.join(', ')}`;
  return [
    {
      kind: 'partitions',
      reason: workers.length === 0 ? 'no worker is running: no partition has an owner' : `no owner: ${which}`,
      missing: unowned.length === count ? 'a worker' : `an owner of ${which}`,
    },
    ...faults,
  ];
}

function unreachableFault(worker: string): WorkerFault {
  return { kind: 'workers', reason: `queries cannot reach ${worker}`, missing: `a connection to ${worker}` };
}

const unknownStateFault: WorkerFault = {
  kind: 'redis',
  reason: 'the state of the partitions is being reloaded',
  missing: 'the state of the partitions',
};

function lastingFaults({ processes, shortages, server, isRedisReachable }: Findings): Fault[] {
  if (!isRedisReachable) return [];
  const faults: Fault[] = [];
  const add = (kind: FaultKind, reason: string) => faults.push({ kind, reason });
  if (server?.canWriteFile === false) {
    add('disk_full', 'Redis cannot write its file (is its disk full?): saves are rejected until it can');
  } else if (processes === null || shortages === null || server === null) {
    add(
      'redis',
      'Redis responds only in part: a master, or the heartbeats of other processes, cannot be reached',
    );
  }
  if (shortages?.isFull)
    add('store_full', 'Redis is full (maxmemory): saves are rejected until it has free memory');
  if (shortages !== null && shortages.missingReplicas > 0) {
    add(
      'replicas',
      `${shortages.missingReplicas} of the replicas required by CONFIRM_REPLICAS are missing: saves are rejected until they are back`,
    );
  }
  if (processes !== null && !processes.some(({ role }) => role === 'jobs')) {
    add(
      'jobs',
      asTyped(
        'no jobs process is running (npm run jobs): rebuilds after a configuration change wait for one',
      ),
    );
  }
  const versions = runningVersions(processes ?? []);
  if (versions.length > 1) add('versions', `processes of several versions run: ${versions.join(', ')}`);
  return faults;
}

/** Each version with the number of its processes. */
function runningVersions(processes: readonly ProcessBeat[]): string[] {
  const counts = new Map<string, number>();
  for (const { version = 'unknown' } of processes) counts.set(version, (counts.get(version) ?? 0) + 1);
  return [...counts].sort().map(([version, count]) => `${version} (${count})`);
}

const alive = jsonAnswer(200, { status: 200, version: platformVersion });

/** `GET /health/live` */
export const live: Handler = () => alive;

/** `GET /health/ready` */
export function ready({ readiness }: { readonly readiness: () => Promise<Readiness> }): Handler {
  return oneFlight(async () => {
    const { waitingFor, faults } = await readiness();
    if (waitingFor.length > 0) return notReady(waitingFor);
    const degraded = faults.map(({ reason }) => reason);
    if (degraded.length > 0) return jsonAnswer(200, { status: 'degraded', degraded });
    return jsonAnswer(200, { status: 200, waitingFor });
  });
}

function notReady(waitingFor: readonly string[]): Answer {
  const { name, status } = problems.notReady;
  const body = { status, waitingFor, code: name };
  return { ...jsonAnswer(status, body), problem: name, problemBody: body };
}

/** `GET /metrics` */
export function metricsText({ metrics }: { readonly metrics: FrontMetrics }): Handler {
  return oneFlight(
    async (): Promise<Answer> => ({
      status: 200,
      body: await metrics.textOfAll(),
      contentType: metrics.contentType,
    }),
  );
}
