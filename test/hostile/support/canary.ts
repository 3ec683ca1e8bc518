/** Unchanged entities of a separate tenant. Whatever happens elsewhere, every interface must return the same for them. */
import assert from 'node:assert/strict';
import type { Json } from '../../../src/contract/json.ts';
import type { Client } from '../../system/support/client.ts';
import type { System } from '../../system/support/processes/system.ts';
import { apiKeys, viewIdOf } from './site.ts';

const count = 12;

export class Canary {
  #song: Json = null;

  private constructor(private readonly client: Client) {}

  /** Saves the entities, with originIds, handles and URLs that the attacked tenant uses too. */
  static async hatch(system: System): Promise<Canary> {
    const canary = new Canary(system.client('web.1', 2));
    const entities = Array.from({ length: count }, (_, number) => ({
      originId: `e${number}`,
      type: 'page',
      url: `/p/${number}`,
      redirects: [`/old/${number}`],
      properties: {
        title: `canary ${number}`,
        handle: `h${number}`,
        related: `e${number + 1}`,
        value: number,
      },
    }));
    const saved = await canary.client.post('/ingest/v2', entities, { key: apiKeys.canarySource });
    assert.equal(saved.status, 200, saved.text);
    canary.#song = await canary.#listen(String(saved.headers['x-service-version']));
    assert.match(JSON.stringify(canary.#song), /canary 11/);
    return canary;
  }

  /** @throws AssertionError if anything has changed */
  async sings(): Promise<void> {
    assert.deepEqual(await this.#listen(null), this.#song, 'the data of another tenant changed');
  }

  async #listen(version: string | null): Promise<Json> {
    const options = {
      key: apiKeys.canaryClient,
      headers: version === null ? {} : { 'X-Service-Min-Version': version },
    };
    const numbers = Array.from({ length: count }, (_, number) => number);
    const handles = numbers.map((number) => `h${number}`);
    const answers = [
      await this.client.get('/v2?url=/p/3', options),
      await this.client.get('/v2?url=/old/3', options),
      await this.client.post(
        '/v2',
        { ids: numbers.map((number) => viewIdOf(`e${number}`)), handles },
        options,
      ),
      await this.client.get('/routes/v1?first=100', options),
      await this.client.post(
        '/v1/things',
        { sort: [{ field: '_originId' }], facets: [{ field: 'handle' }] },
        options,
      ),
      await this.client.post(
        '/v1/sourceGroupAlias/cms/type/page',
        { pagination: { pageSize: 100 } },
        options,
      ),
    ];
    for (const { status, text } of answers) assert.equal(status, 200, text);
    return answers.map(({ json }) => withoutTokens(json));
  }
}

/** Cursors may contain the time of their creation. */
function withoutTokens(json: Record<string, Json>): Json {
  const { nextPageToken: _, pageInfo: __, ...rest } = json;
  return rest;
}
