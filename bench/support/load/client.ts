/** Requests of benchmarks that are not part of the measured load. */
import { Readable } from 'node:stream';
import { FailureFile, Importer, retryTotalMsDefault } from '../../../src/cli/import/importer.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { BenchContext } from '../bench.ts';
import type { Entity } from '../data/sets.ts';
import { type BenchTenant, clientKeyOf, sourceKeyOf } from '../data/tenant.ts';
import { RawConnection } from './raw-connection.ts';

/** The default of `npm run import`. */
export const importConcurrency = 8;

export class Client {
  private readonly sourceKey: string;
  private readonly clientKey: string;

  constructor(
    private readonly context: BenchContext,
    private readonly baseUrl: string,
    tenant: Pick<BenchTenant, 'alias'>,
  ) {
    this.sourceKey = sourceKeyOf(tenant);
    this.clientKey = clientKeyOf(tenant);
  }

  /** Sends NDJSON with the importer of `npm run import`. @throws Error when an entity failed */
  async import(ndjson: Readable): Promise<{ changed: number; unchanged: number }> {
    const { baseUrl, sourceKey } = this;
    const failures = new FailureFile(`${this.context.folder}/failed.ndjson`);
    const importer = new Importer(
      {
        baseUrl,
        sourceKey,
        concurrency: importConcurrency,
        retryTotalMs: retryTotalMsDefault,
        signal: this.context.signal,
      },
      failures,
    );
    const counts = await importer.run(ndjson);
    failures.close();
    if (counts.failed > 0) throw new Error(`${counts.failed} entities were rejected`);
    return counts;
  }

  importEntities(entities: Iterable<unknown> | AsyncIterable<unknown>) {
    return this.import(Readable.from(ndjsonOf(entities)));
  }

  /** Saves up to 50 entities in one request. @returns the version that shows them */
  async save(entities: readonly Entity[]): Promise<string> {
    const { address, headers } = this.saveEndpoint;
    const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(entities) });
    requireSaved(response.status, await response.text());
    return response.headers.get('x-service-version') ?? '';
  }

  /**
   * As `save`, with minimal work in Node.
   * @param connection from `saveConnection`
   * @param request created by it
   */
  async saveOn(connection: RawConnection, request: Buffer): Promise<string> {
    const { status, version, body } = await connection.send(request);
    requireSaved(status, body);
    return version;
  }

  saveConnection(): RawConnection {
    const { address, headers } = this.saveEndpoint;
    return new RawConnection(new URL(address), headers);
  }

  private get saveEndpoint(): { address: string; headers: Record<string, string> } {
    return {
      address: `${this.baseUrl}/ingest/v2`,
      headers: { 'X-Api-Key': this.sourceKey, 'Content-Type': 'application/json' },
    };
  }

  /** Delivers a URL, and waits for a version without a time limit. */
  async deliver(url: string, minVersion?: string): Promise<string> {
    const headers = { 'X-Api-Key': this.clientKey, ...versionHeader(minVersion) };
    for (;;) {
      this.context.signal.throwIfAborted();
      const response = await fetch(`${this.baseUrl}${deliveryPath(url)}`, { headers });
      const text = await response.text();
      if (response.status === 200) return text;
      // A front waits five seconds for a version, then responds with 503.
      if (response.status !== 503 || minVersion === undefined) {
        throw new Error(`delivery returned ${response.status}: ${text}`);
      }
    }
  }

  /** Delivers the page of a URL; null when there is none. */
  async page(url: string, minVersion?: string): Promise<JsonObject | null> {
    const { route }: { route: JsonObject | null } = JSON.parse(await this.deliver(url, minVersion));
    return route;
  }

  /** Runs a query, and waits for a version without a time limit. */
  async query(index: string, query: Json, minVersion?: string): Promise<QueryAnswer> {
    const headers = {
      'X-Api-Key': this.clientKey,
      'Content-Type': 'application/json',
      ...versionHeader(minVersion),
    };
    for (;;) {
      this.context.signal.throwIfAborted();
      const response = await fetch(`${this.baseUrl}/v1/${index}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(query),
      });
      const text = await response.text();
      if (response.status === 200) return JSON.parse(text);
      // A worker that is busy with newly loaded entities may not respond in time.
      if (response.status !== 503) throw new Error(`the query returned ${response.status}: ${text}`);
    }
  }

  /** Every route of the tenant. */
  async routes(): Promise<readonly ListedRoute[]> {
    const routes: ListedRoute[] = [];
    for (let token: string | null = ''; token !== null; ) {
      const response: Response = await fetch(`${this.baseUrl}/routes/v2`, {
        headers: { 'X-Api-Key': this.clientKey, ...(token === '' ? {} : { 'X-Continuation-Token': token }) },
      });
      const page: { continuationToken: string | null; results: ListedRoute[] } = JSON.parse(
        await response.text(),
      );
      routes.push(...page.results);
      token = page.continuationToken;
    }
    return routes;
  }

  async routeCount(): Promise<number> {
    const response = await fetch(`${this.baseUrl}/routes/v1?first=100`, {
      headers: { 'X-Api-Key': this.clientKey },
    });
    const { total }: { total: number } = JSON.parse(await response.text());
    return total;
  }

  /**
   * Waits until all earlier saves are visible, with all rebuilds that they caused. Saving an unchanged entity returns the
   * version of its partition, and this many entities cover every partition.
   * @param entities unchanged ones, at least a few hundred
   */
  async settle(entities: readonly Entity[]): Promise<void> {
    const url = entities.find((entity) => entity.url !== null)?.url ?? '/';
    for (let at = 0; at < Math.min(settlingEntities, entities.length); at += perRequest) {
      await this.deliver(url, await this.save(entities.slice(at, at + perRequest)));
    }
  }

  /** Waits until an index has this many items. */
  async waitForItems(index: string, count: number): Promise<void> {
    await this.waitUntil(
      async () => (await this.query(index, { pagination: { pageSize: 0 } })).totalResults >= count,
    );
  }

  async waitForRoutes(count: number): Promise<void> {
    await this.waitUntil(async () => (await this.routeCount()) >= count);
  }

  private async waitUntil(isReached: () => Promise<boolean>): Promise<void> {
    while (!(await isReached())) {
      this.context.signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }
}

const pollMs = 25;
const perRequest = 50;
const settlingEntities = 300;

export interface ListedRoute {
  readonly url: string;
  /** The target of a redirect; null for a page. */
  readonly redirect: string | null;
}

export interface QueryAnswer {
  readonly totalResults: number;
  readonly results: readonly JsonObject[];
  readonly facets: readonly {
    readonly groups: readonly { readonly value: Json; readonly count: number }[];
  }[];
}

function requireSaved(status: number | undefined, text: string): void {
  const { errors = {} }: { errors?: object } = JSON.parse(text);
  if (status === 200 && Object.keys(errors).length === 0) return;
  throw new Error(`saving returned ${status}: ${text}`);
}

export function deliveryPath(url: string): string {
  return `/v2?url=${encodeURIComponent(url)}`;
}

function versionHeader(version: string | undefined): Record<string, string> {
  return version === undefined ? {} : { 'X-Service-Min-Version': version };
}

const chunkCharacters = 64 * 1024;

async function* ndjsonOf(entities: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let text = '';
  for await (const entity of entities) {
    text += `${JSON.stringify(entity)}\n`;
    if (text.length < chunkCharacters) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}
