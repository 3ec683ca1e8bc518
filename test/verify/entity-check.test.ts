import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashKeys } from '../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { LayoutStates } from '../../src/store/configuration/layouts.ts';
import { acceptEntities } from '../../src/store/entities/accept.ts';
import { AutoFields } from '../../src/store/entities/auto-fields.ts';
import { removeEntities } from '../../src/store/entities/entities.ts';
import { encodeEntity } from '../../src/store/entities/entity-record.ts';
import { checkEntities, noCounts } from '../../src/verify/entity-check.ts';
import { IndexedCandidates, ReadOnlyLookups } from '../../src/verify/read-only-lookups.ts';
import { worldDocuments } from '../actors/support/world.ts';
import { TestRedis } from '../support/redis.ts';

const redis = await TestRedis.start();
const loaded = loadConfiguration(hashKeys(worldDocuments()));
assert.ok(loaded.ok);
const { configuration } = loaded;
const place = { tenant: 'acme', sourceId: 'src-cms' };
const originId = 'e0';

test('entity check: an entity that was deleted and created again between two checks is not the same difference', async () => {
  const store = await redis.openEmptyStore(1);
  const check = async () => {
    const lookups = new ReadOnlyLookups(store, new IndexedCandidates(store, LayoutStates.none));
    const context = {
      store,
      configuration,
      autoFields: new AutoFields(store),
      lookups,
      sandbox: new Sandbox(),
    };
    const target = { kind: 'entity' as const, ...place, originId, suspects: [] };
    const [findings] = await checkEntities(context, 0, [target], noCounts());
    return findings?.filter(({ message }) => message === 'was never processed') ?? [];
  };
  const save = () =>
    acceptEntities(store, {
      ...place,
      force: false,
      entities: [
        encodeEntity({
          originId,
          type: 'page',
          url: null,
          originParentId: null,
          redirects: [],
          properties: {},
        }),
      ],
    });
  await save();
  const first = await check();
  assert.equal(first.length, 1);
  assert.deepEqual(await check(), first, 'nothing changed');
  await removeEntities(store, { ...place, originIds: [originId] });
  await save();
  const [again] = await check();
  assert.notEqual(again?.fingerprint, first[0]?.fingerprint);
});
