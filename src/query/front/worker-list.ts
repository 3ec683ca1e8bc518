/** The workers that live, as the registry has them: whom a query is sent to. */
import { liveProcesses } from '../../store/processes/registry.ts';
import type { Store } from '../../store/store.ts';
import type { WorkerLinks } from '../transport/worker-links.ts';

const refreshMs = 1000;

export class WorkerList {
  #ids: readonly string[] = [];
  /** Ids and partitions as one text, to see a change. */
  #layout = '';
  readonly #listeners: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #refreshing: Promise<void> | null = null;

  /** @param links follow the list */
  constructor(
    private readonly store: Store,
    private readonly links: WorkerLinks,
  ) {}

  get ids(): readonly string[] {
    return this.#ids;
  }

  /** Loads the list and goes on following it. @throws StoreUnavailableError */
  async start(): Promise<void> {
    await this.#load();
    this.#timer = setInterval(() => void this.refresh(), refreshMs);
  }

  /** Looks now; calls that come meanwhile share one look. Without an answer of Redis the last list stays. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#load()
      .catch(() => {})
      .finally(() => {
        this.#refreshing = null;
      });
    return this.#refreshing;
  }

  /** Called from now on when a worker came or went, or a partition moved. */
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
    this.#ids = workers.map(({ id }) => id);
    this.links.follow(workers.map(({ id, host, link = null }) => ({ id, host, link })));
    const layout = JSON.stringify(workers.map(({ id, partitions }) => [id, partitions]));
    if (layout === this.#layout) return;
    this.#layout = layout;
    for (const listener of this.#listeners) listener();
  }
}
