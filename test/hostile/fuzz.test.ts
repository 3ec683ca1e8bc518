import assert from 'node:assert/strict';
import { test } from 'node:test';
import { System } from '../system/support/processes/system.ts';
import { Random, testTurns } from '../system/support/random.ts';
import { differencesFoundByVerify } from '../system/support/verify.ts';
import { Guard } from './support/guard.ts';
import { inspect } from './support/inspect.ts';
import { Loot } from './support/loot.ts';
import { type HostileRequest, RequestMaker } from './support/requests.ts';
import { apiKeys, hostileSite } from './support/site.ts';
import { send } from './support/wire.ts';

/** Concurrent requests. */
const lanes = 4;
const answerMs = 20_000;
const megabyte = 1024 * 1024;
const foundMax = 20;

/** `MILLRACE_SECONDS=3600 MILLRACE_SEED=7 node --import ./src/typescript/loader.mjs --test test/hostile/fuzz.test.ts` is an hour. */
test('fuzz: random requests to every endpoint break nothing', async () => {
  const random = Random.forTest('fuzz');
  const system = await System.start({
    web: 1,
    workers: 1,
    jobs: 0,
    partitions: 4,
    files: hostileSite('acme'),
  });
  try {
    const guard = await Guard.start(system, { webBytes: 900 * megabyte, workerBytes: 1200 * megabyte });
    const attack = new Attack(system, random, guard);
    await attack.run(testTurns(1_500));
    await attack.settled();
    assert.deepEqual(await differencesFoundByVerify(system), []);
    await guard.stop();
    console.log(`fuzz: ${attack.summary()}, slowest /health/live ${Math.round(guard.slowestLiveMs)} ms`);
    for (const [name, bytes] of guard.peakBytes)
      console.log(`fuzz: ${name} ${Math.round(bytes / megabyte)} MB`);
    for (const finding of attack.findings) console.log(`fuzz: ${finding}`);
    assert.equal(attack.findings.length, 0, 'answers that should not be; they are printed above');
    assert.ok((attack.statuses.get(200) ?? 0) > 0.1 * attack.count, 'many of the requests succeed');
    const unavailable = attack.statuses.get(503) ?? 0;
    assert.ok(unavailable <= 2 + 0.02 * attack.count, `${unavailable} answers were 503`);
  } finally {
    await system.stop();
  }
});

class Attack {
  /** The first request that caused each error. */
  readonly #found = new Map<string, string>();
  readonly statuses = new Map<number, number>();
  count = 0;
  readonly #loot = new Loot();
  readonly #secrets: readonly string[];

  constructor(
    private readonly system: System,
    private readonly random: Random,
    private readonly guard: Guard,
  ) {
    this.#secrets = [...Object.values(apiKeys), process.cwd(), system.configDir, 'canary'];
  }

  get findings(): readonly string[] {
    return [...this.#found].map(([what, request]) => `${what}\n  ${request}`);
  }

  async run(hasTurn: () => boolean): Promise<void> {
    const seeds = Array.from({ length: lanes }, () => this.random.below(2 ** 31));
    await Promise.all(
      seeds.map((seed) => this.#lane(new RequestMaker(new Random(seed), this.#loot), hasTurn)),
    );
  }

  async #lane(maker: RequestMaker, hasTurn: () => boolean): Promise<void> {
    while (this.#found.size < foundMax && hasTurn()) {
      await this.#attempt(maker.next());
      this.guard.check();
    }
  }

  async #attempt(request: HostileRequest): Promise<void> {
    this.count += 1;
    try {
      const port = Number(new URL(this.system.url()).port);
      // A broken body may leave the server waiting for the rest of it, so the client ends its side.
      const answer = await send(port, request.bytes, { end: !request.isFramed, patienceMs: answerMs });
      this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
      const { errors, json } = inspect(request, answer, this.#secrets);
      if (json !== undefined) this.#loot.take(json, answer.headers);
      if (errors.length === 0) return;
      const start = answer.body.toString('utf8', 0, 300);
      this.#note(request, `${errors.join('; ')}: ${answer.status} ${start}`);
    } catch (error) {
      this.#note(request, String(error));
    }
  }

  #note({ route, bytes }: HostileRequest, what: string): void {
    const key = `${route.name}: ${what}`;
    if (!this.#found.has(key)) this.#found.set(key, JSON.stringify(bytes.toString('latin1', 0, 20_000)));
  }

  /** Checks that everything that was accepted is processed: the last write becomes visible. */
  async settled(): Promise<void> {
    const client = this.system.client();
    const entity = { originId: 'last', type: 'page', url: '/last', properties: { title: 'last' } };
    const saved = await client.post('/ingest/v2', [entity], {
      key: apiKeys.source,
      headers: { 'X-Service-Force-Type': '1' },
    });
    assert.equal(saved.status, 200, saved.text);
    const headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
    for (let attempt = 0; ; attempt += 1) {
      const { status, json, text } = await client.get('/v2?url=/last', { key: apiKeys.client, headers });
      if (status === 503 && attempt < 12) continue;
      assert.equal(json?.route?.title, 'last', text.slice(0, 500));
      return;
    }
  }

  summary(): string {
    const statuses = [...this.statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${status}: ${times}`);
    return `${this.count} requests (${statuses.join(', ')})`;
  }
}
