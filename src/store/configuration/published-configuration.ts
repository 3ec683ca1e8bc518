/** The published configuration: its documents lie in Redis, so that every process on every host runs the same one. */
import type { ConfigDocuments, Configuration } from '../../config/configuration.ts';
import { pack, unpack } from '../codec/pack.ts';
import { sourceField } from '../derived/processed.ts';
import { keys, platformTag } from '../keys.ts';
import { answerOf, StoreFullError } from '../redis/errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { wantedLayouts } from './layouts.ts';

const publishScript = new Script<number | Buffer>('configuration/publish', 3);

/**
 * Where the active configuration came from. `own`: the folder `config` of this repository, which is the default. No path is
 * stored: a store tells nothing of the machines that use it.
 */
export type ConfigurationOrigin = 'own' | 'other';

export interface PublishOptions {
  readonly origin?: ConfigurationOrigin;
  /** Generation that must still be active (0: none yet); absent: any generation. */
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
  await answerOf(store.client.publish(keys.configurationChannel, String(generation)));
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
  const [generation, digest, origin] = await answerOf(
    store.client.hmget(keys.configuration, 'generation', 'digest', 'origin'),
  );
  if (!generation || !digest) return null;
  return { generation: Number(generation), digest, origin: origin === 'own' ? 'own' : 'other' };
}

export interface PublishedConfiguration {
  readonly generation: number;
  readonly documents: ConfigDocuments;
}

/** Null when none was published yet. @throws StoreUnavailableError */
export async function readPublished(store: Store): Promise<PublishedConfiguration | null> {
  const [generation, documents] = await answerOf(
    store.client.hmgetBuffer(keys.configuration, 'generation', 'documents'),
  );
  if (!generation || !documents) return null;
  return { generation: Number(generation), documents: new Map(unpack<[string, string][]>(documents)) };
}

/**
 * A full Redis also refuses documents that are active already, though nothing would change. @returns the active
 * generation. @throws `error` when other documents are active, or Redis is not full
 */
async function unlessActive(store: Store, digest: string, error: unknown): Promise<number> {
  if (!(error instanceof StoreFullError)) throw error;
  const [active, generation] = await answerOf(store.client.hmget(keys.configuration, 'digest', 'generation'));
  if (active === digest) return Number(generation);
  throw error;
}

/** Generation of the active configuration; 0 when none was published yet. @throws StoreUnavailableError */
export async function activeGeneration(store: Store): Promise<number> {
  return Number((await answerOf(store.client.hget(keys.configuration, 'generation'))) ?? 0);
}
