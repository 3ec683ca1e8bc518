/** A writer that renames countries, and reads the page of a city until it shows the new name. */
import { citiesTenant } from '../data/cities-tenant.ts';
import type { Entity } from '../data/sets.ts';
import { clientKeyOf, sourceKeyOf } from '../data/tenant.ts';
import { deliveryPath } from './client.ts';
import { RawConnection } from './raw-connection.ts';

/** How a writer verifies that it sees its change. */
export const ways = {
  wait: 'X-Service-Wait: 25, then a read',
  version: 'a save, then a read with its version',
  poll: 'a save, then reads until it shows',
} as const;
export type Way = keyof typeof ways;

/** One rename, in ms from the request that saves it. */
export interface Rename {
  readonly saved: number;
  readonly seen: number;
  readonly reads: number;
}

export class Writer {
  readonly #saves: RawConnection;
  readonly #reads: RawConnection;
  readonly #pairs: readonly { readonly country: Entity; readonly path: string }[];
  #renameCount = 0;

  constructor(baseUrl: string, all: readonly Entity[]) {
    const address = new URL(`${baseUrl}/ingest/v2`);
    this.#saves = new RawConnection(address, {
      'X-Api-Key': sourceKeyOf(citiesTenant),
      'Content-Type': 'application/json',
    });
    this.#reads = new RawConnection(address, { 'X-Api-Key': clientKeyOf(citiesTenant) });
    this.#pairs = countriesWithCity(all);
  }

  async renameOften(way: Way, count: number): Promise<Rename[]> {
    const made: Rename[] = [];
    for (let at = 0; at < count; at += 1) made.push(await this.#rename(way));
    return made;
  }

  close(): void {
    this.#saves.close();
    this.#reads.close();
  }

  async #rename(way: Way): Promise<Rename> {
    this.#renameCount += 1;
    const pair = this.#pairs[this.#renameCount % this.#pairs.length];
    if (pair === undefined) throw new Error('no country has a city');
    const name = `renamed ${this.#renameCount}`;
    const { country, path } = pair;
    const body = JSON.stringify([{ ...country, properties: { ...country.properties, name } }]);
    const save = this.#saves.postOf(body, '/ingest/v2', way === 'wait' ? { 'X-Service-Wait': '25' } : {});
    const startMs = performance.now();
    const { status, version } = await this.#saves.send(save);
    if (status !== 200) throw new Error(`saving returned ${status}`);
    const saved = performance.now() - startMs;
    const read = this.#reads.getOf(path, way === 'version' ? { 'X-Service-Min-Version': version } : {});
    for (let reads = 1; ; reads += 1) {
      const response = await this.#reads.send(read);
      if (response.body.includes(name)) return { saved, seen: performance.now() - startMs, reads };
    }
  }
}

/** Each country with the path of a page that shows its name. */
function countriesWithCity(all: readonly Entity[]) {
  const byId = new Map(all.filter(({ type }) => type === 'country').map((one) => [one.originId, one]));
  const pairs = new Map<string, { country: Entity; path: string }>();
  for (const { type, url, properties } of all) {
    const country = byId.get(String(properties.countryId));
    if (type !== 'city' || url === null || country === undefined || pairs.has(country.originId)) continue;
    pairs.set(country.originId, { country, path: deliveryPath(url) });
  }
  return [...pairs.values()];
}
