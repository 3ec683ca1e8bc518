/** Error reports of batches that fail as a whole. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Worker } from '../../../src/actors/worker.ts';
import { ActiveConfiguration } from '../../../src/store/configuration/active-configuration.ts';
import { acceptEntities } from '../../../src/store/entities/accept.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { encodeEntity } from '../../../src/store/entities/entity-record.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { publishDocuments, RecordingSink } from '../support/fleet.ts';
import { storedViews } from '../support/stored.ts';
import { worldDocuments } from '../support/world.ts';

const redis = await TestRedis.start();

/** Fails like an internal error: once when it is called for one type, and always for another. */
class FaultyAutoFields extends AutoFields {
  #hasPassed = false;

  override async decide(...args: Parameters<AutoFields['decide']>): ReturnType<AutoFields['decide']> {
    const [, , type] = args;
    if (type === 'passing' && !this.#hasPassed) {
      this.#hasPassed = true;
      throw new Error('once with passing');
    }
    if (type === 'lasting') throw new Error('again and again');
    return await super.decide(...args);
  }
}

interface Site {
  readonly store: Store;
  readonly errors: string[];
}

async function open(context: TestContext): Promise<Site> {
  const store = await redis.openEmptyStore(1);
  await publishDocuments(store, worldDocuments());
  const configuration = new ActiveConfiguration(store);
  await configuration.start();
  const errors: string[] = [];
  const worker = new Worker({
    store,
    configuration,
    autoFields: new FaultyAutoFields(store),
    items: new RecordingSink(store),
    waitingFor: () => [],
    onError: (message, error) => errors.push(`${message} ${error}`),
  });
  worker.start();
  context.after(async () => {
    await worker.stop();
    configuration.close();
  });
  return { store, errors };
}

/** Saves entities in one call: products, and others with a type each. */
async function save(store: Store, ...originIds: readonly string[]): Promise<void> {
  const entities = originIds.map((originId) => ({
    originId,
    type: originId.startsWith('product') ? 'product' : originId,
    url: null,
    originParentId: null,
    redirects: [],
    properties: { title: originId },
  }));
  await acceptEntities(store, {
    tenant: 'acme',
    sourceId: 'src-shop',
    force: false,
    entities: entities.map(encodeEntity),
  });
}

async function untilThere(store: Store, originId: string): Promise<void> {
  await until(`${originId} is there`, async () => {
    const views = await storedViews(store, 'acme', 'env-1');
    return views.has(`src-shop:product:${originId}`);
  });
}

test('whole batch: a batch that fails although its entities do not logs its error once', async (context) => {
  const { store, errors } = await open(context);
  await save(store, 'passing', 'product');
  await untilThere(store, 'product');
  assert.deepEqual(errors, ['partition 0 Error: once with passing']);
});

test('whole batch: a recurring error of one entity is reported only for that entity', async (context) => {
  const { store, errors } = await open(context);
  await save(store, 'lasting', 'product');
  await untilThere(store, 'product');
  assert.deepEqual(errors, ['partition 0 Error: again and again']);
});

test('whole batch: the error of a batch is reported in addition to the error of a single entity', async (context) => {
  const { store, errors } = await open(context);
  await save(store, 'passing', 'lasting', 'product');
  await untilThere(store, 'product');
  assert.deepEqual(errors.sort(), [
    'partition 0 Error: again and again',
    'partition 0 Error: once with passing',
  ]);
});
