/** A whole platform without fronts: its own Redis, real workers, a real jobs process. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { Worker } from '../../../src/actors/worker.ts';
import { hashKeys } from '../../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { Json } from '../../../src/contract/json.ts';
import { JobsProcess } from '../../../src/jobs/jobs-process.ts';
import { rebuildJobs, rebuildState } from '../../../src/jobs/rebuild-job-queue.ts';
import { ShardSet } from '../../../src/query/worker/shard-set.ts';
import { ActiveConfiguration } from '../../../src/store/configuration/active-configuration.ts';
import { publishConfiguration } from '../../../src/store/configuration/published-configuration.ts';
import { acceptEntities } from '../../../src/store/entities/accept.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { removeEntities } from '../../../src/store/entities/entities.ts';
import { encodeEntity } from '../../../src/store/entities/entity-record.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { connect } from '../../../src/store/redis/redis-connection.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { AddressGuard } from '../../../src/webhooks/allowed-addresses.ts';
import { until } from '../../support/until.ts';
import { readViews } from '../../support/views.ts';

/** Path relative to the configuration folder -> content. */
export type Files = Readonly<Record<string, Json>>;

export const environmentId = 'env-1';
export const tenant = 'acme';
export const scope = { tenant, environmentId };

/** `tenants/acme/…` of one environment and one source `src-1` in the group `cms`. */
export function siteFiles(
  parts: {
    readonly schemas?: Files;
    readonly partials?: Files;
    readonly indexes?: Files;
    readonly tenant?: Json;
  } = {},
): Files {
  const files: Record<string, Json> = { [`tenants/${tenant}/tenant.json`]: parts.tenant ?? siteTenant() };
  for (const folder of ['schemas', 'partials', 'indexes'] as const) {
    for (const [alias, content] of Object.entries(parts[folder] ?? {})) {
      files[`tenants/${tenant}/${folder}/${alias}.json`] = content;
    }
  }
  return files;
}

export function siteTenant(changes: { [name: string]: Json } = {}): Json {
  return {
    environments: [{ id: environmentId, alias: 'production' }],
    sourceGroups: [
      {
        alias: 'cms',
        sources: [{ id: 'src-1', name: 'CMS', environments: ['production'], apiKeys: ['source-key'] }],
      },
    ],
    domains: [{ alias: 'site', hostnames: ['*'] }],
    environmentClients: [
      { name: 'website', environment: 'production', domains: ['site'], apiKeys: ['client-key'] },
    ],
    ...changes,
  };
}

/** Writes files below a folder. */
export function writeFiles(folder: string, files: Files): void {
  for (const [file, json] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), typeof json === 'string' ? json : JSON.stringify(json));
  }
}

export function page(
  originId: string,
  properties: { [name: string]: Json },
  rest: Partial<SourceEntity> = {},
): SourceEntity {
  return { originId, type: 'page', url: null, originParentId: null, redirects: [], properties, ...rest };
}

export class Platform {
  readonly #stops: (() => Promise<void>)[] = [];

  private constructor(
    readonly store: Store,
    readonly url: string,
  ) {}

  /** An empty one. */
  static async start(context: TestContext, url: string, partitionCount = 4): Promise<Platform> {
    const address = { kind: 'single', url } as const;
    const client = connect({ address });
    await client.flushall();
    client.disconnect();
    const platform = new Platform(await openStore({ address, partitionCount }), url);
    context.after(() => platform.stop());
    return platform;
  }

  async publish(files: Files): Promise<number> {
    const texts = Object.entries(files).map(([file, json]) => [file, JSON.stringify(json)] as const);
    const documents = hashKeys(new Map(texts));
    const loaded = loadConfiguration(documents);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.issues));
    return await publishConfiguration(this.store, documents, loaded.configuration);
  }

  async #follow(
    url = this.url,
  ): Promise<{ store: Store; configuration: ActiveConfiguration; close(): Promise<void> }> {
    const store = await openStore({
      address: { kind: 'single', url },
      partitionCount: this.store.partitions.count,
    });
    const configuration = new ActiveConfiguration(store);
    await configuration.start();
    return {
      store,
      configuration,
      close: async () => {
        configuration.close();
        await store.close();
      },
    };
  }

  async startWorker(): Promise<{ stop(): Promise<void> }> {
    const { store, configuration, close } = await this.#follow();
    const autoFields = new AutoFields(store);
    const items = new ShardSet(store, autoFields, configuration.current);
    configuration.onChange((current, former) => {
      autoFields.forgetChanged(current, former);
      void items.reconfigure(current);
    });
    const worker = new Worker({
      store,
      configuration,
      autoFields,
      items,
      waitingFor: () => [],
      onError: (message, error) => console.error(message, error),
    });
    worker.start();
    return this.#running(async () => {
      await worker.stop();
      await close();
    });
  }

  /** @param url of its Redis */
  async startJobs(url = this.url): Promise<{ stop(): Promise<void> }> {
    const { store, configuration, close } = await this.#follow(url);
    const jobs = new JobsProcess({
      webhooks: {
        guard: new AddressGuard([]),
        publicUrl: '',
        retentionMs: 86_400_000,
        onFailing: () => {},
        onWorking: () => {},
      },
      store,
      configuration,
      onError: (message, error) => console.error(message, error),
    });
    jobs.start();
    return this.#running(async () => {
      await jobs.stop();
      await close();
    });
  }

  #running(stop: () => Promise<void>): { stop(): Promise<void> } {
    let stopped: Promise<void> | null = null;
    const once = () => {
      stopped ??= stop();
      return stopped;
    };
    this.#stops.push(once);
    return { stop: once };
  }

  async ingest(entities: readonly SourceEntity[], sourceId = 'src-1', into = tenant): Promise<void> {
    for (let at = 0; at < entities.length; at += 50) {
      const portion = entities.slice(at, at + 50).map(encodeEntity);
      await acceptEntities(this.store, { tenant: into, sourceId, force: false, entities: portion });
    }
  }

  async remove(originIds: readonly string[], sourceId = 'src-1'): Promise<void> {
    await removeEntities(this.store, { tenant, sourceId, originIds });
  }

  /** Until everything so far is processed and rebuilt. */
  async settle(): Promise<void> {
    await waitUntilSettled(this.store);
  }

  async rebuilt(generation: number, timeoutMs?: number): Promise<void> {
    const queue = rebuildJobs(this.store);
    try {
      await until(
        `generation ${generation} is rebuilt`,
        async () => {
          const { isDone, isEnqueued } = await rebuildState(this.store, queue, generation);
          return isDone && isEnqueued;
        },
        timeoutMs,
      );
    } finally {
      await queue.close();
    }
  }

  /** The text of a view without references, or null. */
  async view(alias: string, originId: string, sourceId = 'src-1'): Promise<Json> {
    const [body] = await readViews(this.store, scope, [{ sourceId, alias, originId }]);
    return body ? (JSON.parse(Buffer.concat(body.texts).toString()) as Json) : null;
  }

  /** Environment of a command or process that uses this platform. */
  environment(configDir: string): Record<string, string> {
    return {
      REDIS_URL: this.url,
      REDIS_CLUSTER: '',
      PARTITIONS: String(this.store.partitions.count),
      CONFIG_DIR: configDir,
      LOG_LEVEL: 'warn',
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
    await this.store.close();
  }
}
