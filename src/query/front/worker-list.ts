/** The live workers, as the registry knows them. */
import { oneFlight } from '../../lib/shared-promises.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import type { Store } from '../../store/store.ts';
import type { LiveWorker } from '../transport/messages.ts';
import { type GroupHolders, groupHolders } from './group-holders.ts';

const refreshMs = 1000;

export class WorkerList {
  #workers: readonly LiveWorker[] = [];
  #holders: GroupHolders<LiveWorker> | null = null;
  /** Ids, partitions and shard copies as one text, which shows a change. */
  #layout = '';
  readonly #listeners: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly store: Store) {}

  get workers(): readonly LiveWorker[] {
    return this.#workers;
  }

  /** The workers that can answer for each group of partitions; null: each for those that it owns. */
  get holders(): GroupHolders<LiveWorker> | null {
    return this.#holders;
  }

  /** Loads the list and goes on following it. @throws StoreUnavailableError */
  async start(): Promise<void> {
    await this.#load();
    this.#timer = setInterval(() => void this.refresh(), refreshMs);
  }

  /** Reads the list now. Calls that come meanwhile share one read. If Redis does not answer, the last list stays. */
  readonly refresh = oneFlight(() => this.#load().catch(() => {}));

  /** Calls the listener from now on when a worker came or went, or a partition or a shard copy moved. */
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
