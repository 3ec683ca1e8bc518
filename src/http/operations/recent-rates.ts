/** What all fronts answered in the last minutes, as this front received it: the console's charts begin with it. */
import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import type { Store } from '../../store/store.ts';
import type { InterfaceRates } from './request-rate.ts';

export const recentRatesEveryMs = 5_000;
/** Five minutes. */
const samplesMax = 60;
const interfaces = ['ingest', 'delivery', 'query'] as const;

export class RecentRates {
  readonly #samples: InterfaceRates[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** Notes again and again what all processes tell. */
  follow(store: Store): void {
    this.#timer = setInterval(() => {
      // While Redis is away no heartbeat is received, and that is said elsewhere.
      liveProcesses(store).then(
        (processes) => this.add(processes),
        () => {},
      );
    }, recentRatesEveryMs);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Notes what the processes tell now. */
  add(processes: readonly Pick<ProcessBeat, 'rates'>[]): void {
    const [ingest, delivery, query] = interfaces.map((name) =>
      processes.reduce((sum, { rates }) => sum + (rates?.[name] ?? 0), 0),
    );
    this.#samples.push({ ingest: ingest ?? 0, delivery: delivery ?? 0, query: query ?? 0 });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }

  /** The oldest first, the last one of just now. */
  get samples(): readonly InterfaceRates[] {
    return this.#samples;
  }
}
