/**
 * The published configuration. Its documents are in Redis, so that all processes on all hosts use the same one. The documents
 * of a tenant are a separate field, whose name contains their fingerprint, so that unchanged tenants are neither read nor
 * written.
 *
 * Each published configuration has a generation, which is rebuilt: whether its jobs are queued, and which tenants may see the
 * rebuild, because its id is easy to guess.
 */
import type { ConfigDocuments, Configuration } from '../../config/configuration.ts';
import { byTenant, canonicalDigest, fingerprintOf } from '../../config/documents/canonical.ts';
import type { TenantTexts } from '../../config/documents/load.ts';
import { documentsOfTenant } from '../../config/documents/tenant-folder.ts';
import { jobKnownSeconds } from '../../contract/limits.ts';
import { script } from '../../lib/typed-command.mjs';
import { pack, unpack } from '../codec/pack.ts';
import { keys, platformTag } from '../keys.ts';
import { answerOf, StoreFullError } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import { sourceField, sourceOfField } from '../scopes.ts';
import type { Store } from '../store.ts';
import { webhookField } from '../webhooks/webhook-states.ts';
import { initialLayoutFields } from './layouts.ts';

const publishScript = new Script<number | Buffer>('configuration/publish', 4);

/**
 * The origin of the active configuration. `own`: this repository's `config` folder, which is the default. No path is stored, so
 * a store reveals nothing about the machines that use it.
 */
export type ConfigurationOrigin = 'own' | 'other';

export interface PublishOptions {
  readonly origin?: ConfigurationOrigin;
  /** Digest of the folder with the documents: `npm start` only applies it again if it has changed. */
  readonly folder?: string;
  /**
   * Generation that must still be active (0: none yet), so that a call that reaches Redis late does not replace a newer
   * configuration; absent: the one that is active now.
   */
  readonly after?: number;
}

/** The store cannot accept a configuration now. The message says why and what to do. */
export class ConfigurationRefusedError extends Error {
  override readonly name = 'ConfigurationRefusedError';
}

/**
 * Makes documents the active configuration and notifies every process. Callers have validated them.
 * @param configuration loaded from the documents
 * @returns its generation
 * @throws ConfigurationRefusedError, StoreUnavailableError
 */
export async function publishConfiguration(
  store: Store,
  documents: ConfigDocuments,
  configuration: Configuration,
  options: PublishOptions = {},
): Promise<number> {
  const tenants = new Map<string, TenantTexts>();
  for (const [tenant, texts] of byTenant(documents)) {
    tenants.set(tenant, { fingerprint: fingerprintOf(texts), documents: texts });
  }
  return await publishTenants(store, tenants, configuration, options);
}

/**
 * Like `publishConfiguration`, with the documents of each tenant.
 * @param tenants without documents for tenants that are unchanged since generation `after`
 */
export async function publishTenants(
  store: Store,
  tenants: ReadonlyMap<string, TenantTexts>,
  configuration: Configuration,
  { origin = 'other', folder = '', after }: PublishOptions = {},
): Promise<number> {
  const published = await readTenants(store);
  const before = published?.tenants ?? new Map<string, PublishedTenant>();
  const nowMs = Date.now();
  const listed = [...tenants].map(([tenant, texts]) =>
    listedTenant(tenant, texts, before.get(tenant), nowMs),
  );
  const changed = [...tenants].flatMap(([tenant, { fingerprint, documents }]) => {
    if (documents === null || before.get(tenant)?.fingerprint === fingerprint) return [];
    return [documentsField(tenant, fingerprint), pack([...documents])];
  });
  const sources = sourceFields(configuration);
  const publish = () =>
    publishScript.run(
      store.client,
      [keys.configuration, keys.layouts, keys.purge, keys.webhooks],
      [
        configuration.digest,
        pack(listed),
        origin,
        after ?? published?.generation ?? 0,
        folder,
        pack(webhookNames(configuration)),
        sources.length,
        changed.length,
        ...sources,
        ...changed,
        ...initialLayoutFields(configuration),
      ],
    );
  const generation = await surviving(store.acknowledgements, [platformTag], () =>
    publish().catch((error) => unlessActive(store, configuration.digest, error)),
  );
  if (typeof generation !== 'number') throw purgedError(generation.toString());
  if (generation === 0) throw new ConfigurationRefusedError(otherBecameActive);
  await answerOf(store.client.publish(keys.configurationChannel, String(generation)));
  return generation;
}

export const otherBecameActive = 'Another configuration became active meanwhile. Run this again.';

/** The field with the documents of a tenant. Scripts build this name too. */
function documentsField(tenant: string, fingerprint: string): string {
  return `documents|${tenant}|${fingerprint}`;
}

/** A tenant in the stored list. */
type ListedTenant = [tenant: string, fingerprint: string, digest: string, appliedAtMs: number];

/**
 * The list entry of a tenant; `appliedAtMs` is unchanged if the written documents are the same.
 * @throws ConfigurationRefusedError
 */
function listedTenant(
  tenant: string,
  { fingerprint, documents }: TenantTexts,
  before: PublishedTenant | undefined,
  nowMs: number,
): ListedTenant {
  if (before?.fingerprint === fingerprint) return [tenant, fingerprint, before.digest, before.appliedAtMs];
  if (documents === null) throw new ConfigurationRefusedError(otherBecameActive);
  const digest = writtenDigest(documents, tenant);
  return [tenant, fingerprint, digest, before?.digest === digest ? before.appliedAtMs : nowMs];
}

/** Digest of the written documents of a tenant, with paths relative to its folder. @param documents with hashed keys */
export function writtenDigest(documents: ConfigDocuments, tenant: string): string {
  return canonicalDigest(documentsOfTenant(documents, tenant));
}

function webhookNames({ tenants }: Configuration): string[] {
  return [...tenants.values()].flatMap(({ alias, webhooks }) =>
    webhooks.map((webhook) => webhookField(alias, webhook)),
  );
}

function sourceFields({ tenants }: Configuration): string[] {
  return [...tenants.values()].flatMap(({ alias, sources }) =>
    [...sources.keys()].map((sourceId) => sourceField({ tenant: alias, sourceId })),
  );
}

function purgedError(field: string): ConfigurationRefusedError {
  const { tenant, sourceId } = sourceOfField(field);
  return new ConfigurationRefusedError(
    `Source ${sourceId} of tenant ${tenant} is being purged. Wait until ${script('purge')} has ended ` +
      '(run it again if it was interrupted), then run this again.',
  );
}

/** The published configuration without its documents. */
export interface ActiveDigest {
  readonly generation: number;
  readonly digest: string;
  readonly origin: ConfigurationOrigin;
  /** Digest of the last applied folder; null if there is none. */
  readonly folder: string | null;
}

/** Null before the first publication. @throws StoreUnavailableError */
export async function readActiveDigest(store: Store): Promise<ActiveDigest | null> {
  const [generation, digest, origin, folder = null] = await answerOf(
    store.client.hmget(keys.configuration, 'generation', 'digest', 'origin', 'folder'),
  );
  if (!generation || !digest) return null;
  return { generation: Number(generation), digest, origin: origin === 'own' ? 'own' : 'other', folder };
}

/** Stored data about the documents of a tenant. */
export interface PublishedTenant {
  readonly fingerprint: string;
  /** From `writtenDigest`. */
  readonly digest: string;
  /** When the tenant's documents last changed. */
  readonly appliedAtMs: number;
}

export interface PublishedTenants {
  readonly generation: number;
  readonly tenants: ReadonlyMap<string, PublishedTenant>;
}

/** The active tenants without their documents; null before the first publication. @throws StoreUnavailableError */
export async function readTenants(store: Store): Promise<PublishedTenants | null> {
  const [generation, packed] = await answerOf(
    store.client.hmgetBuffer(keys.configuration, 'generation', 'tenants'),
  );
  if (!generation || !packed) return null;
  const listed = unpack<ListedTenant[]>(packed).map(
    ([tenant, fingerprint, digest, appliedAtMs]) => [tenant, { fingerprint, digest, appliedAtMs }] as const,
  );
  return { generation: Number(generation), tenants: new Map(listed) };
}

/**
 * The documents of some tenants by name. Null if one of them has changed, because another configuration has become active since
 * it was read.
 * @throws StoreUnavailableError
 */
export async function readDocuments(
  store: Store,
  wanted: Iterable<readonly [tenant: string, { readonly fingerprint: string }]>,
): Promise<ReadonlyMap<string, ConfigDocuments> | null> {
  const tenants = [...wanted];
  if (tenants.length === 0) return new Map();
  const fields = tenants.map(([tenant, { fingerprint }]) => documentsField(tenant, fingerprint));
  const texts = await answerOf(store.client.hmgetBuffer(keys.configuration, ...fields));
  const documents = new Map<string, ConfigDocuments>();
  for (const [at, [tenant]] of tenants.entries()) {
    const packed = texts[at];
    if (!packed) return null;
    documents.set(tenant, new Map(unpack<[string, string][]>(packed)));
  }
  return documents;
}

/** The active configuration with the documents of one tenant, which may have none. Null before the first publication. */
export async function readTenant(
  store: Store,
  tenant: string,
): Promise<(PublishedTenants & { readonly documents: ConfigDocuments }) | null> {
  for (;;) {
    const published = await readTenants(store);
    if (published === null) return null;
    const entry = published.tenants.get(tenant);
    const read = await readDocuments(store, entry === undefined ? [] : [[tenant, entry]]);
    if (read !== null) return { ...published, documents: read.get(tenant) ?? new Map() };
  }
}

export interface PublishedConfiguration extends PublishedTenants {
  /** Documents of all tenants. */
  readonly documents: ConfigDocuments;
}

/** All documents. Null before the first publication. @throws StoreUnavailableError */
export async function readPublished(store: Store): Promise<PublishedConfiguration | null> {
  for (;;) {
    const published = await readTenants(store);
    if (published === null) return null;
    const read = await readDocuments(store, published.tenants);
    if (read !== null)
      return { ...published, documents: new Map([...read.values()].flatMap((texts) => [...texts])) };
  }
}

/**
 * A full Redis also rejects documents that are already active, although nothing would change.
 * @returns the active generation
 * @throws `error` if other documents are active, or Redis is not full
 */
async function unlessActive(store: Store, digest: string, error: unknown): Promise<number> {
  if (!(error instanceof StoreFullError)) throw error;
  const [active, generation] = await answerOf(store.client.hmget(keys.configuration, 'digest', 'generation'));
  if (active === digest) return Number(generation);
  throw error;
}

/** Generation of the active configuration; 0 before the first publication. @throws StoreUnavailableError */
export async function activeGeneration(store: Store): Promise<number> {
  return Number((await answerOf(store.client.hget(keys.configuration, 'generation'))) ?? 0);
}

export interface Generations {
  /** Active generation; 0 before the first publication. */
  readonly active: number;
  /** Last generation whose rebuild jobs were all added. */
  readonly enqueued: number;
}

/** @throws StoreUnavailableError */
export async function readGenerations(store: Store): Promise<Generations> {
  const [active, enqueued] = await answerOf(store.client.hmget(keys.configuration, 'generation', 'rebuilt'));
  return { active: Number(active ?? 0), enqueued: Number(enqueued ?? 0) };
}

/** Records that all rebuild jobs of a generation are in the queue. @throws StoreUnavailableError */
export async function recordEnqueued(store: Store, generation: number): Promise<void> {
  await answerOf(store.client.hset(keys.configuration, 'rebuilt', generation));
}

/** Records that a tenant received the id of a rebuild. @throws StoreUnavailableError */
export async function recordRebuildOf(store: Store, tenant: string, generation: number): Promise<void> {
  await answerOf(store.client.set(keys.rebuildOf(tenant, generation), '1', 'EX', jobKnownSeconds));
}

/** @throws StoreUnavailableError */
export async function isRebuildOf(store: Store, tenant: string, generation: number): Promise<boolean> {
  return (await answerOf(store.client.exists(keys.rebuildOf(tenant, generation)))) === 1;
}
