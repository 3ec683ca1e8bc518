/**
 * Measures how an import slows down others: single saves followed by a read of their version, and a page and a query at a
 * steady rate.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cityIndex } from './data/cities-tenant.ts';
import type { Entity } from './data/sets.ts';
import { type BenchTenant, clientKeyOf, sourceKeyOf } from './data/tenant.ts';
import { deliveryPath } from './load/client.ts';
import { RawConnection } from './load/raw-connection.ts';

/** Milliseconds. */
export interface ProbeLatencies {
  readonly saved: number[];
  /** From the start of the save to the response of the read with its version. */
  readonly seen: number[];
  readonly page: number[];
  readonly query: number[];
}

const saveEveryMs = 50;
const pageEveryMs = 4;
const queryEveryMs = 20;
/** Number of entities that are saved in turn. */
const savedEntities = 40;

export function noLatencies(): ProbeLatencies {
  return { saved: [], seen: [], page: [], query: [] };
}

/** Saves single cities and reads them with their versions until `isOver`. @throws Error when a read does not show the save */
export async function probeSaves(
  baseUrl: string,
  tenant: Pick<BenchTenant, 'alias'>,
  cities: readonly Entity[],
  isOver: () => boolean,
): Promise<ProbeLatencies> {
  const noticed = noLatencies();
  const saves = new RawConnection(new URL(baseUrl), { 'X-Api-Key': sourceKeyOf(tenant) });
  const reads = new RawConnection(new URL(baseUrl), { 'X-Api-Key': clientKeyOf(tenant) });
  for (let count = 0; !isOver(); count += 1) {
    const city = cities[count % Math.min(savedEntities, cities.length)];
    if (city?.url == null) throw new TypeError('no city with a URL');
    const url = `/probe${city.url}`;
    const name = `Save ${count}`;
    const { type, properties } = city;
    const body = JSON.stringify({ type, url, properties: { ...properties, name } });
    const path = `/ingest/v2/${encodeURIComponent(`probe-${city.originId}`)}`;
    const startedMs = performance.now();
    const saved = await saves.send(saves.postOf(body, path));
    const savedMs = performance.now();
    requireGood('a single save', saved);
    const read = reads.getOf(deliveryPath(url), { 'X-Service-Min-Version': saved.version });
    let answer = await reads.send(read);
    // A front waits five seconds for a version, then responds with 503.
    while (answer.status === 503) answer = await reads.send(read);
    const seenMs = performance.now();
    requireGood('a read', answer);
    if (!answer.body.includes(name)) throw new Error(`a read is older than ${name}`);
    noticed.saved.push(savedMs - startedMs);
    noticed.seen.push(seenMs - startedMs);
    await sleep(Math.max(0, saveEveryMs - (seenMs - startedMs)));
  }
  saves.close();
  reads.close();
  return noticed;
}

/** Requests an unchanged page, and queries that all differ, until `isOver`. */
export async function probeReads(
  baseUrl: string,
  tenant: Pick<BenchTenant, 'alias'>,
  url: string,
  isOver: () => boolean,
): Promise<ProbeLatencies> {
  const noticed = noLatencies();
  const headers = { 'X-Api-Key': clientKeyOf(tenant) };
  const connections = [0, 1].map(() => new RawConnection(new URL(baseUrl), headers));
  const timed = async (
    times: number[],
    what: string,
    everyMs: number,
    request: (count: number) => Buffer,
  ): Promise<void> => {
    const connection = connections.pop();
    if (connection === undefined) throw new TypeError('no connection');
    for (let count = 0; !isOver(); count += 1) {
      const startedMs = performance.now();
      requireGood(what, await connection.send(request(count)));
      times.push(performance.now() - startedMs);
      await sleep(Math.max(0, everyMs - (performance.now() - startedMs)));
    }
    connection.close();
  };
  const [connection] = connections;
  if (connection === undefined) throw new TypeError('no connection');
  const page = connection.getOf(deliveryPath(url));
  const query = (count: number) =>
    connection.postOf(
      JSON.stringify({ filters: { and: [{ field: 'population', operator: 'greaterThan', value: count }] } }),
      `/v1/${cityIndex}`,
    );
  await Promise.all([
    timed(noticed.page, 'a page', pageEveryMs, () => page),
    timed(noticed.query, 'a query', queryEveryMs, query),
  ]);
  return noticed;
}

function requireGood(what: string, { status, body }: { status: number; body: string }): void {
  if (status !== 200) throw new Error(`${what} got ${status}: ${body}`);
}
