/** Asks for pages at a steady, low rate and notes how long each answer took, as for one reader among few. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpRequest } from '../load/wrk.ts';

/** Milliseconds of each answer, by kind of request. */
export type Latencies = ReadonlyMap<string, readonly number[]>;

const everyMs = 4;

export class DeliveryProbe {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** @param kinds name -> requests, which are sent in turn. Kinds take turns too */
  constructor(
    private readonly baseUrl: string,
    private readonly kinds: ReadonlyMap<string, readonly HttpRequest[]>,
  ) {}

  /**
   * Asks until `over` settles, one request after the other.
   * @throws what `over` rejects with; Error for any status but 200
   */
  async during(over: Promise<unknown>): Promise<Latencies> {
    let isOver = false;
    const ended = over.finally(() => {
      isOver = true;
    });
    ended.catch(() => {});
    const latencies = new Map<string, number[]>([...this.kinds.keys()].map((kind) => [kind, []]));
    for (let turn = 0; !isOver; turn += 1) {
      for (const [kind, requests] of this.kinds) {
        const asked = requests[turn % requests.length];
        if (asked === undefined) continue;
        const startedMs = performance.now();
        await this.#ask(asked);
        latencies.get(kind)?.push(performance.now() - startedMs);
        await sleep(everyMs);
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
