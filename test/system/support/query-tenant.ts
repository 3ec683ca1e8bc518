/** The tenant of one test file on the shared platform. Its index `things` has its entities of the type `thing`. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import type { Answer, Client } from './client.ts';
import { entityOf } from './data/entities.ts';
import { sharedPlatform } from './processes/shared-platform.ts';
import type { System } from './processes/system.ts';
import { clientKey, type SiteParts, siteFiles, sourceKey } from './site.ts';

type QueryParts = Pick<SiteParts, 'schemas' | 'indexes' | 'settings'>;

export class QueryTenant {
  #platform: { readonly system: System; readonly client: Client } | null = null;
  /** Version of the last write, which a front may receive later than Redis. */
  #version: string | undefined;

  /**
   * Must be created while the file is loaded. The platform is available while the tests of the file run.
   * @param things their properties by originId
   */
  constructor(
    readonly name: string,
    parts: QueryParts,
    things: Readonly<Record<string, JsonObject>>,
  ) {
    before(async () => {
      const system = await sharedPlatform(siteFiles({ tenant: name, ...parts }));
      this.#platform = { system, client: system.client() };
      await this.#save(things);
    });
  }

  get #running(): { readonly system: System; readonly client: Client } {
    assert.ok(this.#platform !== null, 'tests have not started');
    return this.#platform;
  }

  async #save(things: Readonly<Record<string, JsonObject>>): Promise<void> {
    const entities = Object.entries(things).map(([id, properties]) => entityOf(id, 'thing', properties));
    const { status, text } = await this.send('POST', '/ingest/v2', entities as unknown as Json);
    assert.equal(status, 200, text);
    await this.settle();
  }

  /**
   * Replaces parts of the tenant, and waits until everything that they change is rebuilt. The tenant is unchanged if they are
   * rejected.
   */
  async apply(parts: QueryParts): Promise<void> {
    await this.#running.system.apply(siteFiles({ tenant: this.name, ...parts }));
    await this.settle();
  }

  async ask(body: Json | Buffer, path = '/v1/things', key = clientKey): Promise<Answer> {
    return await this.#running.client.post(path, body, { key, ...this.#state });
  }

  /** Sends a request to an ingest endpoint. Later requests show what it wrote. */
  async send(method: string, path: string, body: Json | Buffer, headers = {}): Promise<Answer> {
    const answer = await this.#running.client.call(method, path, { body, headers, key: sourceKey });
    const version = answer.headers['x-service-version'];
    if (typeof version === 'string') this.#version = version;
    return answer;
  }

  /** Reads from an interface of delivery, routes or management. */
  async get(path: string, key = clientKey): Promise<Answer> {
    return await this.#running.client.get(path, { key, ...this.#state });
  }

  /** What a request must show. */
  get #state(): { readonly version?: string } {
    return this.#version === undefined ? {} : { version: this.#version };
  }

  /** Waits until all that was saved is processed. */
  async settle(): Promise<void> {
    await waitUntilSettled(await this.#running.system.store());
  }

  /** The JSON of the answer to a query that must succeed. */
  async good(body: Json, path?: string): Promise<Answer['json']> {
    const { status, json, text } = await this.ask(body, path);
    assert.equal(status, 200, `${JSON.stringify(body)}: ${text}`);
    return json;
  }
}

/** An index of all entities of the type `thing`. @param fieldTypes types by the common name of field and property */
export function indexOfTypes(fieldTypes: Readonly<Record<string, string>>): Json {
  const fields = Object.entries(fieldTypes);
  return {
    triggers: { cms: ['thing'] },
    properties: Object.fromEntries(fields.map(([name]) => [name, { '*': `p.${name}` }])),
    index: { fields: Object.fromEntries(fields.map(([name, type]) => [name, { type }])) },
  };
}
