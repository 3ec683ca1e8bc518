/** The active configuration: its documents lie in Redis, so that every process on every host runs the same one. */

import type { ConfigDocuments, Configuration } from '../../config/configuration.ts';
import { type LoadOutcome, loadConfiguration } from '../../config/documents/load.ts';
import { pack, unpack } from '../codec/pack.ts';
import { sourceField } from '../derived/processed.ts';
import { keys, platformTag } from '../keys.ts';
import {
  connectBlocking,
  type RedisClient,
  StoreFullError,
  StoreUnavailableError,
  storeError,
} from '../redis/connection.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { LayoutStates, layoutsVersion, readLayouts, wantedLayouts } from './layouts.ts';

const publishScript = new Script<number | Buffer>('publish', 3);
const pollMs = 1000;

/**
 * Where the active configuration came from. `own`: the folder `config` of this repository, which a process has in mind
 * that was told of no other. No path: a store tells nothing of the machines that use it.
 */
export type ConfigurationOrigin = 'own' | 'other';

export interface PublishOptions {
  readonly origin?: ConfigurationOrigin;
  /** Generation that must be active still (0: none yet); absent: whichever is. */
  readonly after?: number;
}

/** The store does not take a configuration now; its message tells people why and what to do. */
export class ConfigurationRefusedError extends Error {
  override readonly name = 'ConfigurationRefusedError';
}

/**
 * Makes documents the active configuration and tells every process. Callers have validated them.
 * @param configuration loaded from the documents. @returns its generation
 * @throws ConfigurationRefusedError, StoreUnavailableError
 */
export async function publishConfiguration(
  store: Store,
  documents: ConfigDocuments,
  configuration: Configuration,
  { origin = 'other', after }: PublishOptions = {},
): Promise<number> {
  const sources = sourceFields(configuration);
  const publish = () =>
    publishScript.run(
      store.client,
      [keys.configuration, keys.layouts, keys.purge],
      [
        configuration.digest,
        pack([...documents]),
        origin,
        after ?? '',
        sources.length,
        ...sources,
        ...wantedLayouts(configuration),
      ],
    );
  const generation = await surviving(store.acknowledgements, [platformTag], () =>
    publish().catch((error) => unlessActive(store, configuration.digest, error)),
  );
  if (typeof generation !== 'number') throw purgedError(generation.toString());
  if (generation === 0) {
    throw new ConfigurationRefusedError('Another configuration became active meanwhile: run this again.');
  }
  try {
    await store.client.publish(keys.configurationChannel, String(generation));
  } catch (error) {
    throw storeError(error);
  }
  return generation;
}

function sourceFields({ tenants }: Configuration): string[] {
  return [...tenants.values()].flatMap(({ alias, sources }) =>
    [...sources.keys()].map((sourceId) => sourceField(alias, sourceId)),
  );
}

function purgedError(field: string): ConfigurationRefusedError {
  const [tenant = '', sourceId = ''] = field.split('|');
  return new ConfigurationRefusedError(
    `What is left of source ${sourceId} of tenant ${tenant} is being purged: wait until npm run purge has ended ` +
      '(run it again if it was broken off), then run this again.',
  );
}

/** What a store runs, without its documents. */
export interface ActiveDigest {
  readonly generation: number;
  readonly digest: string;
  readonly origin: ConfigurationOrigin;
}

/** Null when none was published yet. @throws StoreUnavailableError */
export async function readActiveDigest(store: Store): Promise<ActiveDigest | null> {
  try {
    const [generation, digest, origin] = await store.client.hmget(
      keys.configuration,
      'generation',
      'digest',
      'origin',
    );
    if (!generation || !digest) return null;
    return { generation: Number(generation), digest, origin: origin === 'own' ? 'own' : 'other' };
  } catch (error) {
    throw storeError(error);
  }
}

export interface PublishedConfiguration {
  readonly generation: number;
  readonly documents: ConfigDocuments;
}

/** Null when none was published yet. @throws StoreUnavailableError */
export async function readPublished(store: Store): Promise<PublishedConfiguration | null> {
  try {
    const [generation, documents] = await store.client.hmgetBuffer(
      keys.configuration,
      'generation',
      'documents',
    );
    if (!generation || !documents) return null;
    return { generation: Number(generation), documents: new Map(unpack<[string, string][]>(documents)) };
  } catch (error) {
    throw storeError(error);
  }
}

/** A full Redis refuses who starts with what is active, too. @returns its generation. @throws `error` when it is not */
async function unlessActive(store: Store, digest: string, error: unknown): Promise<number> {
  if (!(error instanceof StoreFullError)) throw error;
  try {
    const [active, generation] = await store.client.hmget(keys.configuration, 'digest', 'generation');
    if (active === digest) return Number(generation);
  } catch (cause) {
    throw storeError(cause);
  }
  throw error;
}

async function activeGeneration(store: Store): Promise<number> {
  try {
    return Number((await store.client.hget(keys.configuration, 'generation')) ?? 0);
  } catch (error) {
    throw storeError(error);
  }
}

function loadStored(documents: ConfigDocuments): LoadOutcome {
  return loadConfiguration(documents, 'stored');
}

/** Called with the new and the former configuration. */
export type ConfigurationListener = (current: Configuration, former: Configuration | null) => void;

/** Follows the active configuration of a store. */
export class ActiveConfiguration {
  #current: Configuration | null = null;
  #generation = 0;
  #layouts = LayoutStates.none;
  #subscriber: RedisClient | null = null;
  #timer: NodeJS.Timeout | null = null;
  #refreshing: Promise<void> | null = null;
  readonly #listeners: ConfigurationListener[] = [];
  readonly #troubleListeners: ((reason: string) => void)[] = [];
  /** Why the active one cannot be used, as was told last; null while it can. */
  #trouble: string | null = null;

  /** @param load as `loadConfiguration`; a test that starts many processes may keep what it gives */
  constructor(
    private readonly store: Store,
    private readonly load: (documents: ConfigDocuments) => LoadOutcome = loadStored,
  ) {}

  /** @throws Error when none is active yet */
  get current(): Configuration {
    if (this.#current === null) throw new Error('no configuration is loaded yet');
    return this.#current;
  }

  get loaded(): boolean {
    return this.#current !== null;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Which lookup layouts are whole, as this process knows it. */
  get layouts(): LayoutStates {
    return this.#layouts;
  }

  onChange(listener: ConfigurationListener): void {
    this.#listeners.push(listener);
  }

  /** Told once, for each reason, why the active configuration cannot be used though Redis answers. */
  onTrouble(listener: (reason: string) => void): void {
    this.#troubleListeners.push(listener);
  }

  /** Loads what is active, if anything is, and goes on following. @throws StoreUnavailableError */
  async start(): Promise<void> {
    await this.refresh();
    const subscriber = connectBlocking(this.store.address);
    this.#subscriber = subscriber;
    subscriber.on('message', () => void this.catchUp().catch(() => {}));
    subscriber.on('ready', () => {
      subscriber.subscribe(keys.configurationChannel).catch(() => {});
    });
    // A message may be lost while the connection is down; the poll is what can be relied on.
    this.#timer = setInterval(() => void this.refresh().catch(() => {}), pollMs);
  }

  /** Loads the active generation if it is not the current one. @throws StoreUnavailableError */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#loadTellingTrouble().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /**
   * As `refresh`, but by a look that begins after the call: one that is under way may have come too early to see what the
   * caller knows of. @throws StoreUnavailableError
   */
  async catchUp(): Promise<void> {
    await this.#refreshing?.catch(() => {});
    await this.refresh();
  }

  async #loadTellingTrouble(): Promise<void> {
    try {
      await this.#load();
      this.#trouble = null;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!(error instanceof StoreUnavailableError) && reason !== this.#trouble) {
        this.#trouble = reason;
        for (const listener of this.#troubleListeners) listener(reason);
      }
      throw error;
    }
  }

  async #load(): Promise<void> {
    const loaded = await this.#loadNewer();
    // After the configuration, whose first one says itself that its layouts are whole.
    if ((await layoutsVersion(this.store)) !== this.#layouts.version) {
      this.#layouts = await readLayouts(this.store);
    }
    if (loaded === null) return;
    const former = this.#current;
    this.#current = loaded.configuration;
    this.#generation = loaded.generation;
    for (const listener of this.#listeners) listener(loaded.configuration, former);
  }

  /** Null when the current one is the active one. */
  async #loadNewer(): Promise<{ configuration: Configuration; generation: number } | null> {
    const active = await activeGeneration(this.store);
    if (active === this.#generation) return null;
    // One that a failover takes back would have been worked by in vain.
    const published = await surviving(this.store.replication, [platformTag], () => readPublished(this.store));
    if (published === null || published.generation === this.#generation) return null;
    const loaded = this.load(published.documents);
    // Only validated documents are published; another version of this program may still disagree.
    if (!loaded.ok) throw new Error(`the active configuration is not valid: ${loaded.issues[0]?.message}`);
    return { configuration: loaded.configuration, generation: published.generation };
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#subscriber?.disconnect();
  }
}
