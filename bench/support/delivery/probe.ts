/** Requests pages at a low, steady rate and measures each latency, like a single reader. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Entity } from '../data/sets.ts';
import { type BenchTenant, clientKeyOf } from '../data/tenant.ts';
import { deliveryPath } from '../load/client.ts';
import type { HttpRequest } from '../load/wrk.ts';

/** Latencies in milliseconds, by kind of request. */
export type Latencies = ReadonlyMap<string, readonly number[]>;

/** 200 requests a second. */
const everyMs = 5;
const kinds = { warm: 'from the cache', cold: 'computed' };

export class DeliveryProbe {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** @param kinds name -> requests. Kinds, and requests of a kind, are sent in rotation */
  constructor(
    private readonly baseUrl: string,
    private readonly kinds: ReadonlyMap<string, readonly HttpRequest[]>,
  ) {}

  /**
   * Sends requests one after the other until `over` settles: each at its scheduled time, or after the previous response.
   * @throws what `over` rejects with; Error for any status other than 200
   */
  async during(over: Promise<unknown>): Promise<Latencies> {
    let isOver = false;
    const ended = over.finally(() => {
      isOver = true;
    });
    ended.catch(() => {});
    const latencies = new Map<string, number[]>([...this.kinds.keys()].map((kind) => [kind, []]));
    let nextMs = performance.now();
    for (let turn = 0; !isOver; turn += 1) {
      for (const [kind, requests] of this.kinds) {
        const asked = requests[turn % requests.length];
        if (asked === undefined) continue;
        const startedMs = performance.now();
        await this.#ask(asked);
        latencies.get(kind)?.push(performance.now() - startedMs);
        nextMs = Math.max(performance.now(), nextMs + everyMs);
        await sleep(nextMs - performance.now());
      }
    }
    await ended;
    return latencies;
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask({ method, path, headers, body }: HttpRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      request(
        `${this.baseUrl}${path}`,
        { method, agent: this.#agent, headers: { ...headers, ...length } },
        (response) => {
          response.resume();
          response.on('end', () => {
            if (response.statusCode === 200) resolve();
            else reject(new Error(`${method} ${path} answered ${response.statusCode}`));
          });
        },
      )
        .on('error', reject)
        .end(body);
    });
  }
}

/** Requests for entities with a URL and a handle: GET by URL, which is cached, and POST by handle, which is not. */
export function placeRequests(
  tenant: Pick<BenchTenant, 'alias'>,
  places: readonly Entity[],
): Map<string, HttpRequest[]> {
  const headers = { 'X-Api-Key': clientKeyOf(tenant) };
  return new Map<string, HttpRequest[]>([
    [kinds.warm, places.map(({ url }) => ({ method: 'GET', path: deliveryPath(url ?? '/'), headers }))],
    [
      kinds.cold,
      places.map(({ originId }) => ({
        method: 'POST',
        path: '/v2',
        headers,
        body: JSON.stringify({ handles: [originId] }),
      })),
    ],
  ]);
}

/** Adds the kind `all` with all latencies. */
export function allOf(latencies: Latencies): Latencies {
  return new Map([['all', [...latencies.values()].flat()], ...latencies]);
}
