/** The published configuration: its documents lie in Redis, so that every process on every host runs the same one. */

import type { ConfigDocuments, Configuration } from '../../config/configuration.ts';
import { documentPlace } from '../../config/documents/document-path.ts';
import { tenantsOf } from '../../config/documents/tenant-folder.ts';
import { script } from '../../lib/typed-command.mjs';
import { pack, unpack } from '../codec/pack.ts';
import { sourceField } from '../derived/processed.ts';
import { keys, platformTag } from '../keys.ts';
import { answerOf, StoreFullError } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { webhookField } from '../webhooks/webhook-states.ts';
import { wholeFromTheStart } from './layouts.ts';

const publishScript = new Script<number | Buffer>('configuration/publish', 4);

/**
 * Where the active configuration came from. `own`: the folder `config` of this repository, which is the default. No path is
 * stored: a store tells nothing of the machines that use it.
 */
export type ConfigurationOrigin = 'own' | 'other';

export interface PublishOptions {
  readonly origin?: ConfigurationOrigin;
  /** Digest of the folder that the documents are of: `npm start` takes it again only when it has changed. */
  readonly folder?: string;
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
  { origin = 'other', folder = '', after }: PublishOptions = {},
): Promise<number> {
  const sources = sourceFields(configuration);
  const applied = await appliedTimes(store, documents);
  const publish = () =>
    publishScript.run(
      store.client,
      [keys.configuration, keys.layouts, keys.purge, keys.webhooks],
      [
        configuration.digest,
        pack([...documents]),
        origin,
        after ?? '',
        folder,
        pack([...applied]),
        pack(webhookNames(configuration)),
        sources.length,
        ...sources,
        ...wholeFromTheStart(configuration),
      ],
    );
  const generation = await surviving(store.acknowledgements, [platformTag], () =>
    publish().catch((error) => unlessActive(store, configuration.digest, error)),
  );
  if (typeof generation !== 'number') throw purgedError(generation.toString());
  if (generation === 0) {
    throw new ConfigurationRefusedError('Another configuration became active meanwhile. Run this again.');
  }
  await answerOf(store.client.publish(keys.configurationChannel, String(generation)));
  return generation;
}

/** When each tenant of the documents became what it is there: now, unless it is so already. */
async function appliedTimes(store: Store, documents: ConfigDocuments): Promise<Map<string, number>> {
  const before = await readPublished(store);
  const nowMs = Date.now();
  const former = writtenByTenant(before?.documents ?? new Map());
  return new Map(
    [...writtenByTenant(documents)].map(([tenant, texts]) => {
      const known = before?.appliedAtMs.get(tenant);
      const isSame = areSameTexts(texts, former.get(tenant));
      return [tenant, isSame && known !== undefined ? known : nowMs];
    }),
  );
}

/** The documents that people wrote, by tenant. */
function writtenByTenant(documents: ConfigDocuments): Map<string, Map<string, string>> {
  const tenants = new Map(tenantsOf(documents).map((tenant) => [tenant, new Map<string, string>()]));
  for (const [path, text] of documents) {
    const place = documentPlace(path);
    if (place !== null && place.kind !== 'program') tenants.get(place.tenant)?.set(path, text);
  }
  return tenants;
}

/** Both have their keys hashed, so equal documents have equal texts. */
function areSameTexts(a: ConfigDocuments, b: ConfigDocuments | undefined): boolean {
  if (a.size !== b?.size) return false;
  return [...a].every(([path, text]) => b.get(path) === text);
}

function webhookNames({ tenants }: Configuration): string[] {
  return [...tenants.values()].flatMap(({ alias, webhooks }) =>
    webhooks.map((webhook) => webhookField(alias, webhook)),
  );
}

function sourceFields({ tenants }: Configuration): string[] {
  return [...tenants.values()].flatMap(({ alias, sources }) =>
    [...sources.keys()].map((sourceId) => sourceField(alias, sourceId)),
  );
}

function purgedError(field: string): ConfigurationRefusedError {
  const [tenant = '', sourceId = ''] = field.split('|');
  return new ConfigurationRefusedError(
    `Source ${sourceId} of tenant ${tenant} is being purged. Wait until ${script('purge')} has ended ` +
      '(run it again if it was interrupted), then run this again.',
  );
}

/** What a store runs, without its documents. */
export interface ActiveDigest {
  readonly generation: number;
  readonly digest: string;
  readonly origin: ConfigurationOrigin;
  /** Digest of the folder that was last made active; null when none was. */
  readonly folder: string | null;
}

/** Null when none was published yet. @throws StoreUnavailableError */
export async function readActiveDigest(store: Store): Promise<ActiveDigest | null> {
  const [generation, digest, origin, folder = null] = await answerOf(
    store.client.hmget(keys.configuration, 'generation', 'digest', 'origin', 'folder'),
  );
  if (!generation || !digest) return null;
  return { generation: Number(generation), digest, origin: origin === 'own' ? 'own' : 'other', folder };
}

export interface PublishedConfiguration {
  readonly generation: number;
  readonly documents: ConfigDocuments;
  /** Tenant -> when it became what it is. */
  readonly appliedAtMs: ReadonlyMap<string, number>;
}

/** Null when none was published yet. @throws StoreUnavailableError */
export async function readPublished(store: Store): Promise<PublishedConfiguration | null> {
  const [generation, documents, applied] = await answerOf(
    store.client.hmgetBuffer(keys.configuration, 'generation', 'documents', 'applied'),
  );
  if (!generation || !documents || !applied) return null;
  return {
    generation: Number(generation),
    documents: new Map(unpack<[string, string][]>(documents)),
    appliedAtMs: new Map(unpack<[string, number][]>(applied)),
  };
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
