/** Follows the active configuration of a store, in each of its processes. */
import type { Configuration } from '../../config/configuration.ts';
import { isLoaded, type LoadOutcome, loadingStored, type TenantTexts } from '../../config/documents/load.ts';
import { sliceMs } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { reasonOf } from '../../lib/message-text.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { keys, platformTag } from '../keys.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Subscription } from '../redis/subscription.ts';
import type { Store } from '../store.ts';
import { LayoutStates, layoutsVersion, readLayouts } from './layouts.ts';
import { activeGeneration, readDocuments, readTenants } from './published-configuration.ts';

const pollMs = 1000;

/** Loads the stored configuration in slices. Unchanged tenants are not loaded again. */
function loadStored(
  tenants: ReadonlyMap<string, TenantTexts>,
  former: Configuration | null,
): Promise<LoadOutcome> {
  return new Slice(sliceMs).run(loadingStored(tenants, former === null ? [] : [former]));
}

/** The active tenants, with documents for those that none of the configurations contains. Null: see `readDocuments`. */
export async function textsBeside(
  store: Store,
  tenants: ReadonlyMap<string, { readonly fingerprint: string }>,
  former: readonly Configuration[],
): Promise<Map<string, TenantTexts> | null> {
  const unknown = [...tenants].filter(
    ([tenant, { fingerprint }]) => !former.some((one) => isLoaded(one, tenant, fingerprint)),
  );
  const documents = await readDocuments(store, unknown);
  if (documents === null) return null;
  return new Map(
    [...tenants].map(([tenant, { fingerprint }]) => [
      tenant,
      { fingerprint, documents: documents.get(tenant) ?? null },
    ]),
  );
}

/** Called with the new and the previous configuration. */
export type ConfigurationListener = (current: Configuration, former: Configuration | null) => void;

/** Follows the active configuration of a store. */
export class ActiveConfiguration {
  #current: Configuration | null = null;
  #generation = 0;
  #layouts = LayoutStates.none;
  #subscription: Subscription | null = null;
  #timer: NodeJS.Timeout | null = null;
  #refreshing: Promise<void> | null = null;
  readonly #listeners: ConfigurationListener[] = [];
  readonly #layoutListeners: (() => void)[] = [];
  readonly #errorListeners: ((reason: string) => void)[] = [];
  /** The last reported reason why the active configuration is unusable; null while it is usable. */
  #lastError: string | null = null;

  /** @param load like `loadingStored`; tests that start many processes may cache the result */
  constructor(
    private readonly store: Store,
    private readonly load: (
      tenants: ReadonlyMap<string, TenantTexts>,
      former: Configuration | null,
    ) => LoadOutcome | Promise<LoadOutcome> = loadStored,
  ) {}

  /** Must only be called when one is active (`loaded`). */
  get current(): Configuration {
    assert(this.#current !== null, 'a configuration is loaded before it is asked for');
    return this.#current;
  }

  get loaded(): boolean {
    return this.#current !== null;
  }

  get generation(): number {
    return this.#generation;
  }

  /** The complete lookup layouts and the forms of URL claims that this process knows. */
  get layouts(): LayoutStates {
    return this.#layouts;
  }

  onChange(listener: ConfigurationListener): void {
    this.#listeners.push(listener);
  }

  /** Called when layouts or forms of URL claims have changed. */
  onLayouts(listener: () => void): void {
    this.#layoutListeners.push(listener);
  }

  /** Called once for each reason why the active configuration is unusable although Redis responds. */
  onError(listener: (reason: string) => void): void {
    this.#errorListeners.push(listener);
  }

  /** Loads the active configuration, if any, and follows changes. @throws StoreUnavailableError */
  async start(): Promise<void> {
    await this.refresh();
    this.#subscription = new Subscription(this.store, keys.configurationChannel, {
      message: () => void this.catchUp().catch(() => {}),
    });
    // Messages may be lost while the connection is down, so polling is the reliable way.
    this.#timer = setInterval(() => void this.refresh().catch(() => {}), pollMs);
  }

  /** Loads the active generation if it is not the current one. @throws StoreUnavailableError */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#loadAndReport().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /**
   * Like `refresh`, but with a read that begins after the call. A running read may have begun before the change that the caller
   * knows of.
   * @throws StoreUnavailableError
   */
  async catchUp(): Promise<void> {
    await this.#refreshing?.catch(() => {});
    await this.refresh();
  }

  async #loadAndReport(): Promise<void> {
    try {
      await this.#load();
      this.#lastError = null;
    } catch (error) {
      const reason = reasonOf(error);
      if (!(error instanceof StoreUnavailableError) && reason !== this.#lastError) {
        this.#lastError = reason;
        for (const listener of this.#errorListeners) listener(reason);
      }
      throw error;
    }
  }

  async #load(): Promise<void> {
    const loaded = await this.#loadNewer();
    // Read after the configuration, because the first configuration of a store declares its own layouts complete.
    if ((await layoutsVersion(this.store)) !== this.#layouts.version) {
      this.#layouts = await readLayouts(this.store);
      for (const listener of this.#layoutListeners) listener();
    }
    if (loaded === null) return;
    const former = this.#current;
    this.#current = loaded.configuration;
    this.#generation = loaded.generation;
    for (const listener of this.#listeners) listener(loaded.configuration, former);
  }

  /** Null if the current one is active. */
  async #loadNewer(): Promise<{ configuration: Configuration; generation: number } | null> {
    const active = await activeGeneration(this.store);
    if (active === this.#generation) return null;
    // Work with a configuration that a failover reverts would be wasted.
    const published = await surviving(this.store.replication, [platformTag], () => readTenants(this.store));
    if (published === null || published.generation === this.#generation) return null;
    const former = this.#current;
    const tenants = await textsBeside(this.store, published.tenants, former === null ? [] : [former]);
    // An even newer one became active; the next poll finds it.
    if (tenants === null) return null;
    const loaded = await this.load(tenants, former);
    // Only valid documents are published, but another version of this program may have other rules.
    if (!loaded.ok) throw new Error(`the active configuration is not valid: ${loaded.issues[0]?.message}`);
    return { configuration: loaded.configuration, generation: published.generation };
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#subscription?.close();
  }
}
