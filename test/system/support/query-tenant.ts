/**
 * A tenant of one test file, whose entities of the type `thing` the index `things` holds. Files that run in one process have
 * their tenants on one platform of two workers.
 */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { waitUntilSettled } from '../../../src/store/partitions/settled.ts';
import type { Answer, Client } from './client.ts';
import { entityOf } from './data/entities.ts';
import { type ConfigFiles, System } from './processes/system.ts';
import { clientKey, type SiteParts, siteFiles, sourceKey } from './site.ts';

type QueryParts = Pick<SiteParts, 'schemas' | 'indexes' | 'settings'>;

/** Tenant -> its files. */
const files = new Map<string, ConfigFiles>();
/** Tenants that the platform knows. */
const known = new Set<string>();
let platform: Promise<System> | null = null;

function filesOfAll(): ConfigFiles {
  for (const name of files.keys()) known.add(name);
  return Object.assign({}, ...files.values());
}

/** Starts the platform unless it is running. A test file may load after others have started, so its tenant may be added later. */
function platformWith(tenant: string): Promise<System> {
  platform =
    platform === null
      ? System.start({ workers: 2, files: filesOfAll() })
      : platform.then(async (system) => {
          if (!known.has(tenant)) await system.apply(filesOfAll());
          return system;
        });
  return platform;
}

async function stop(): Promise<void> {
  const running = platform;
  platform = null;
  await (await running)?.stop();
}

export class QueryTenant {
  #client: Client | null = null;
  readonly #keyPrefix: string;

  /**
   * Made as the file is loaded. The platform is there while tests run.
   * @param things their properties by originId
   */
  constructor(
    readonly name: string,
    parts: QueryParts,
    things: Readonly<Record<string, JsonObject>>,
  ) {
    this.#keyPrefix = `${name}-`;
    files.set(name, this.#files(parts));
    before(() => this.#save(things));
    after(stop);
  }

  #files(parts: QueryParts): ConfigFiles {
    return siteFiles({ tenant: this.name, keyPrefix: this.#keyPrefix, ...parts });
  }

  async #save(things: Readonly<Record<string, JsonObject>>): Promise<void> {
    const system = await platformWith(this.name);
    this.#client = system.client();
    const entities = Object.entries(things).map(([id, properties]) => entityOf(id, 'thing', properties));
    const key = this.#keyPrefix + sourceKey;
    const { status, text } = await this.#client.post('/ingest/v2', entities as unknown as Json, { key });
    assert.equal(status, 200, text);
    await waitUntilSettled(await system.store());
  }

  /**
   * Replaces parts of the tenant, and waits until everything that they change is rebuilt. The tenant is unchanged if they are
   * rejected.
   */
  async apply(parts: QueryParts): Promise<void> {
    const system = await platformWith(this.name);
    const before = files.get(this.name) ?? {};
    files.set(this.name, this.#files(parts));
    await system.apply(filesOfAll()).catch((error: unknown) => {
      files.set(this.name, before);
      throw error;
    });
    await waitUntilSettled(await system.store());
  }

  async ask(body: Json, path = '/v1/things', key = clientKey): Promise<Answer> {
    assert.ok(this.#client !== null, 'tests have not begun');
    return await this.#client.post(path, body, { key: this.#keyPrefix + key });
  }

  /** Sends a request to an ingest endpoint. */
  async send(method: string, path: string, body: Json | Buffer, headers = {}): Promise<Answer> {
    assert.ok(this.#client !== null, 'tests have not begun');
    return await this.#client.call(method, path, { body, headers, key: this.#keyPrefix + sourceKey });
  }

  /** Reads from an interface of delivery, routes or management. */
  async get(path: string, key = clientKey): Promise<Answer> {
    assert.ok(this.#client !== null, 'tests have not begun');
    return await this.#client.get(path, { key: this.#keyPrefix + key });
  }

  /** Waits until all that was saved is processed. */
  async settle(): Promise<void> {
    await waitUntilSettled(await (await platformWith(this.name)).store());
  }

  /** The JSON of an answer that must be a good one. */
  async good(body: Json, path?: string): Promise<Answer['json']> {
    const { status, json, text } = await this.ask(body, path);
    assert.equal(status, 200, `${JSON.stringify(body)}: ${text}`);
    return json;
  }
}

/** An index of all entities of the type `thing`. @param fieldTypes name of a field and of a property -> its type */
export function indexOfTypes(fieldTypes: Readonly<Record<string, string>>): Json {
  const fields = Object.entries(fieldTypes);
  return {
    triggers: { cms: ['thing'] },
    properties: Object.fromEntries(fields.map(([name]) => [name, { '*': `p.${name}` }])),
    index: { fields: Object.fromEntries(fields.map(([name, type]) => [name, { type }])) },
  };
}
