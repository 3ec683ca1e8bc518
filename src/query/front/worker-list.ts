/** The live workers, as the registry knows them. Queries are sent to all of them. */
import { oneFlight } from '../../lib/one-flight.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import type { Store } from '../../store/store.ts';
import type { LiveWorker } from '../transport/transport.ts';

const refreshMs = 1000;

export class WorkerList {
  #workers: readonly LiveWorker[] = [];
  /** Ids and partitions as one text, which shows a change. */
  #layout = '';
  readonly #listeners: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly store: Store) {}

  get workers(): readonly LiveWorker[] {
    return this.#workers;
  }

  /** Loads the list and goes on following it. @throws StoreUnavailableError */
  async start(): Promise<void> {
    await this.#load();
    this.#timer = setInterval(() => void this.refresh(), refreshMs);
  }

  /** Reads the list now. Calls that come meanwhile share one read. If Redis does not answer, the last list stays. */
  readonly refresh = oneFlight(() => this.#load().catch(() => {}));

  /** Calls the listener from now on when a worker came or went, or a partition moved. */
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
    this.#workers = workers.map(({ id, host, socketPath = null }) => ({ id, host, socketPath }));
    const layout = JSON.stringify(workers.map(({ id, partitions }) => [id, partitions]));
    if (layout === this.#layout) return;
    this.#layout = layout;
    for (const listener of this.#listeners) listener();
  }
}
