/** The live workers according to the registry, and which groups of partitions they hold copies of. */
import { oneFlight } from '../../lib/shared-promises.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import type { Store } from '../../store/store.ts';
import { formatGroup, parseGroup } from '../protocol/shard-request.ts';
import type { LiveWorker } from '../transport/messages.ts';

const refreshMs = 1000;

export class WorkerList {
  #workers: readonly LiveWorker[] = [];
  #holders: GroupHolders<LiveWorker> | null = null;
  /** Ids, partitions and shard copies as JSON, to detect changes. */
  #layout = '';
  readonly #listeners: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly store: Store) {}

  get workers(): readonly LiveWorker[] {
    return this.#workers;
  }

  /** The workers that can answer for each group of partitions; null if each answers for the partitions that it owns. */
  get holders(): GroupHolders<LiveWorker> | null {
    return this.#holders;
  }

  /** Loads the list and continues following it. @throws StoreUnavailableError */
  async start(): Promise<void> {
    await this.#load();
    this.#timer = setInterval(() => void this.refresh(), refreshMs);
  }

  /** Reads the list now. Concurrent calls share one read. If Redis does not respond, the last list remains. */
  readonly refresh = oneFlight(() => this.#load().catch(() => {}));

  /** Adds a listener for changes of workers, owners of partitions and shard copies. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #load(): Promise<void> {
    const workers = (await liveProcesses(this.store))
      .filter(({ role }) => role === 'worker')
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const listed = workers.map(({ id, host, queryAddresses: addresses = null, shardCopies }) => {
      return { id, host, addresses, groups: shardCopies?.ready ?? [] };
    });
    this.#workers = listed;
    const layout = JSON.stringify(
      workers.map(({ id, partitions, shardCopies }) => [id, partitions, shardCopies]),
    );
    if (layout === this.#layout) return;
    this.#layout = layout;
    this.#holders = groupHolders(listed);
    for (const listener of this.#listeners) listener();
  }
}

/** The workers that hold each group, in the order of the groups; no list is empty. */
export type GroupHolders<Worker> = readonly (readonly Worker[])[];

/**
 * The division of the partitions in which most workers can answer; among equals the one with the fewest groups, because a query
 * asks one worker of each. Null if no division has a worker for each group: without shard copies, and while they load.
 */
export function groupHolders<Worker extends { readonly groups: readonly string[] }>(
  workers: readonly Worker[],
): GroupHolders<Worker> | null {
  const divisions = new Set(
    workers.flatMap(({ groups }) => groups.flatMap((name) => parseGroup(name)?.of ?? [])),
  );
  let best: GroupHolders<Worker> | null = null;
  for (const of of [...divisions].sort((a, b) => a - b)) {
    const holders = Array.from({ length: of }, (_, index) => {
      const name = formatGroup({ index, of });
      return workers.filter(({ groups }) => groups.includes(name));
    });
    const isComplete = holders.every(({ length }) => length > 0);
    if (isComplete && (best === null || countOf(holders) > countOf(best))) best = holders;
  }
  return best;
}

function countOf(holders: GroupHolders<unknown>): number {
  return new Set(holders.flat()).size;
}
