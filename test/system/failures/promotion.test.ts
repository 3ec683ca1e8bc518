/** A replica replaces its primary, while all processes keep using the same address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import {
  article,
  assertTrue,
  categories,
  files,
  keepWriting,
  sendAgain,
} from '../../cluster/support/articles.ts';
import { runs } from '../../support/runs.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';
import { Ledger, untilVisible } from '../support/ledger.ts';
import { RedisServer } from '../support/processes/redis-server.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, sourceId, sourceKey } from '../support/site.ts';

const articleCount = 200;
/** Lag of the replica. A promotion loses the unconfirmed writes of this period. */
const lagMs = 20;

/** A primary, its replica behind a slow connection, and an address that leads to the current primary. */
class Pair {
  readonly #ends: (() => Promise<unknown>)[] = [];
  #primary = 0;
  #target = 0;
  #wire: SlowRedis | null = null;
  #replica: RedisServer | null = null;

  /** The caller closes it, after the processes that use it have stopped. */
  static async open(): Promise<Pair> {
    const pair = new Pair();
    pair.#wire = await SlowRedis.start(() => pair.#target);
    return pair;
  }

  async close(): Promise<void> {
    await Promise.all(this.#ends.splice(0).map((end) => end()));
    await this.wire.stop();
  }

  get wire(): SlowRedis {
    if (this.#wire === null) throw new Error('it is not open');
    return this.#wire;
  }

  get replica(): RedisServer {
    if (this.#replica === null) throw new Error('there is no replica');
    return this.#replica;
  }

  /** Points the address to a primary, and gives it a replica that is in sync. */
  async lead(port: number): Promise<void> {
    this.#primary = port;
    this.#target = port;
    await this.attach();
  }

  /** Starts a replica of the primary, and waits until it is in sync. */
  async attach(): Promise<void> {
    const slow = await SlowRedis.start(() => this.#primary);
    slow.delay(lagMs);
    const replica = await RedisServer.start({ replicaOf: slow.port });
    this.#ends.push(async () => {
      await replica.stop();
      await slow.stop();
    });
    this.#replica = replica;
    await this.#ask(replica, async (client) => {
      await until(
        'the replica is up to date',
        async () => (await client.info('replication')).includes('master_link_status:up'),
        20_000,
      );
    });
  }

  /** Points the address to the replica, and promotes it after the first connection. */
  async promote(): Promise<void> {
    const { replica } = this;
    this.#target = replica.port;
    this.wire.breakAll();
    await this.#ask(replica, async (client) => {
      await until(
        'the processes have connected to the replica',
        async () => Number(/connected_clients:(\d+)/.exec(await client.info('clients'))?.[1]) > 5,
      );
      await client.call('REPLICAOF', 'NO', 'ONE');
    });
    this.#primary = replica.port;
  }

  async #ask(server: RedisServer, act: (client: Redis) => Promise<void>): Promise<void> {
    const client = new Redis(server.url);
    try {
      await act(client);
    } finally {
      client.disconnect();
    }
  }
}

test(
  'promotion: with CONFIRM_REPLICAS nothing acknowledged is lost when the replica is promoted',
  oneRedisOnly,
  async (context) => {
    const random = Random.forTest('promotion');
    const pair = await Pair.open();
    const started = System.start({
      web: 1,
      workers: 2,
      jobs: 1,
      partitions: 4,
      files: files(1),
      env: {
        REDIS_URL: pair.wire.url,
        CONFIRM_REPLICAS: '1',
        LEASE_SECONDS: '2',
      },
      onRedis: (port) => pair.lead(port),
      storeUrl: pair.wire.url,
    });
    context.after(() => started.then((system) => system.stop()).finally(() => pair.close()));
    const system = await started;
    const store = await system.store();
    const client = system.client();
    const ledger = new Ledger({ key: sourceKey, sourceId });
    assert.ok(await ledger.save(client, categories));
    await waitUntilSettled(store);

    await pair.replica.process.signal('SIGSTOP');
    const refused = [
      await client.post('/ingest/v2', [article(random, 0)] as unknown as [], { key: sourceKey }),
      await client.delete('/ingest/v2/c0', { key: sourceKey }),
    ];
    for (const { status, headers, text } of refused) {
      assert.equal(status, 503, `${text}: no replica has it, so it is not acknowledged`);
      assert.ok(headers['retry-after']);
    }
    await pair.replica.process.signal('SIGCONT');
    await until('it is acknowledged again', () => ledger.save(client, [...categories, article(random, 0)]));

    let primary = system.redis;
    for (let round = 0; round < runs(1); round += 1) {
      const writing = keepWriting(client, ledger, random, articleCount);
      try {
        const { answered } = ledger;
        await until('writes are running', () => ledger.answered > answered + 50);
        await primary.process.signal('SIGKILL');
        primary = pair.replica;
        await pair.promote();
        await until(
          'the front serves without a replica',
          async () => {
            const { status, json } = await client.get('/health/ready');
            return status === 200 && /CONFIRM_REPLICAS/.test(`${json.degraded}`);
          },
          30_000,
        );
        const alone = await client.post('/ingest/v2', categories as unknown as [], { key: sourceKey });
        assert.equal(alone.status, 503, 'there is no replica to store it');
        await pair.attach();
        const attached = ledger.answered;
        await until('writes are acknowledged again', () => ledger.answered > attached + 20);
      } finally {
        await writing.stop();
      }
      const kept = writing.answers.filter(({ isAcknowledged }) => isAcknowledged).length;
      context.diagnostic(
        `${kept} of ${writing.answers.length} writes were acknowledged, the others answered 503`,
      );
      await sendAgain(client, ledger);
      await untilVisible(client, clientKey, ledger.takeVersions().slice(-20));
      await waitUntilSettled(store);
      await system.ready();
      await assertTrue(system, client, ledger);
    }
    await system.apply(files(2));
    await assertTrue(system, client, ledger);
  },
);
