/** A worker process of the simulation: the real actors with their own store, configuration and list of items. */
import { Worker } from '../../../src/actors/worker.ts';
import type { Configuration } from '../../../src/config/configuration.ts';
import { ActiveConfiguration } from '../../../src/store/configuration/active-configuration.ts';
import type { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import type { Store } from '../../../src/store/store.ts';
import { RecordingSink } from '../../actors/support/fleet.ts';
import { loadOnce } from './site.ts';

/** Three ticks. After a longer pause, the worker loses its partitions. */
const leaseMs = 1_600;

export class Member {
  readonly worker: Worker;
  readonly sink: RecordingSink;

  private constructor(
    readonly host: string,
    private readonly store: Store,
    private readonly configuration: ActiveConfiguration,
    claimsPerCommit: number,
    onError: (message: string, error: unknown) => void,
  ) {
    this.sink = new RecordingSink(store);
    this.worker = new Worker({
      store,
      configuration,
      autoFields: new AutoFields(store),
      items: this.sink,
      leaseMs,
      claimsPerCommit,
      waitingFor: () => [],
      onError,
    });
    // Formatting metrics would be most of the cost of a schedule, and nothing uses them here.
    this.worker.metrics.registry.metrics = async () => '';
  }

  get id(): string {
    return this.worker.id;
  }

  /** Its state of the lookup layouts, and of the configuration. */
  get layouts(): LayoutStates {
    return this.configuration.layouts;
  }

  get current(): Configuration {
    return this.configuration.current;
  }

  /** @param store with its own connection to its host */
  static async start(
    host: string,
    store: Store,
    claimsPerCommit: number,
    onError: (message: string, error: unknown) => void,
  ): Promise<Member> {
    const configuration = new ActiveConfiguration(store, loadOnce);
    await configuration.start();
    const member = new Member(host, store, configuration, claimsPerCommit, onError);
    member.worker.start();
    return member;
  }

  async stop(): Promise<void> {
    this.configuration.close();
    await this.worker.stop();
    await this.store.close();
  }

  /** To be called after its host was cut off the network, so that its remaining work has no effect. */
  crash(): void {
    this.store.client.disconnect();
    this.stop().catch(() => {});
  }
}
