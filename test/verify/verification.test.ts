import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import { redirectsMax } from '../../src/contract/limits.ts';
import { competingClaimField, rankMember } from '../../src/store/claims/competing-claims.ts';
import { pack, unpack } from '../../src/store/codec/pack.ts';
import { readPublished } from '../../src/store/configuration/published-configuration.ts';
import { namesDigestOfBody } from '../../src/store/derived/nameless-body.ts';
import { fieldOfView } from '../../src/store/derived/views.ts';
import { claimField, indexName, keys, largeBodyField, tagOf, viewField } from '../../src/store/keys.ts';
import type { Store } from '../../src/store/store.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { type VerifyResult, verify } from '../../src/verify/verification.ts';
import { changeRecords } from '../jobs/support/former-records.ts';
import { environmentId, Platform, page, scope, tenant } from '../jobs/support/platform.ts';
import { damageList } from '../support/ordered-lists.ts';
import { bytesMoved, TestRedis } from '../support/redis.ts';
import { readViews } from '../support/views.ts';
import { configurationFiles, configurationWith, groups, pageEntity, pages } from './support/fixture.ts';

const redisUrl = (await TestRedis.start()).url;

async function sound(context: TestContext, files = configurationFiles): Promise<Platform> {
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(files);
  await platform.startWorker();
  await platform.ingest([...groups, ...pages]);
  await platform.settle();
  return platform;
}

async function verified(store: Store, isRepair = false): Promise<VerifyResult & { findings: Finding[] }> {
  const published = await readPublished(store);
  const loaded = loadConfiguration(published?.documents ?? new Map());
  assert.ok(loaded.ok);
  const findings: Finding[] = [];
  const result = await verify({
    store,
    configuration: loaded.configuration,
    tenant: null,
    isRepair,
    onProgress: () => {},
    onDifference: (finding) => findings.push(finding),
  });
  return { ...result, findings };
}

test('verification: an untouched store has no differences, and everything in it was compared', async (context) => {
  const { store } = await sound(context);
  const { findings, ...result } = await verified(store);
  assert.deepEqual(findings, []);
  assert.deepEqual(result, {
    entities: 33,
    views: 33,
    items: 63,
    // A page's URL, redirect and handle.
    claims: 90,
    differences: 0,
    unsettled: 0,
    repaired: 0,
    notes: [],
  });
});

test('verification: records of an earlier version, with other digests of schemas, are not differences', async (context) => {
  const { store } = await sound(context);
  const schemaDigest = 'former--xxh';
  await changeRecords(store, (output) => ({ ...output, schemaDigest }));
  assert.deepEqual((await verified(store)).findings, []);
});

test('verification: a large view in its own key is compared and repaired like any other, and leaves nothing when it shrinks or is removed', async (context) => {
  const platform = await sound(context);
  const { store } = platform;
  const field = viewField('page', 'p3');
  const lengths = async () => [
    await store.client.hstrlen(viewsKey(store, 'p3'), field),
    await store.client.hstrlen(viewsKey(store, 'p3'), largeBodyField(field)),
  ];
  const nothingFound = async (what: string) => {
    await platform.settle();
    assert.deepEqual((await verified(store)).findings, [], what);
  };
  await platform.ingest([pageEntity(3, { name: 'x'.repeat(100_000), group: 'g0' })]);
  await nothingFound('large');
  const [note = 0, body = 0] = await lengths();
  assert.ok(note < 10 && body > 100_000, `${note}, ${body}`);
  await store.client.hdel(viewsKey(store, 'p3'), largeBodyField(field));
  const { differences, repaired } = await verified(store, true);
  assert.deepEqual([differences, repaired], [1, 1]);
  await nothingFound('repaired');
  assert.deepEqual(await lengths(), [note, body]);
  await platform.ingest([pageEntity(3, { name: 'small', group: 'g0' })]);
  await nothingFound('small');
  assert.equal((await lengths())[1], 0);
  await platform.ingest([pageEntity(3, { name: 'x'.repeat(100_000), group: 'g0' })]);
  await nothingFound('large again');
  await platform.remove(['p3']);
  await nothingFound('gone');
  assert.deepEqual(await lengths(), [0, 0]);
});

test('verification: views whose list of names was lost are missing, and a repair restores both', async (context) => {
  // A list that another test has read would be cached here, whatever Redis has lost.
  const platform = await sound(context, configurationWith({ ofThisTestAlone: '{p.name}' }));
  const { store } = platform;
  const many = Array.from({ length: 100 }, (_, at) => pageEntity(100 + at));
  await platform.ingest(many);
  await platform.settle();
  const refs = many.map(({ originId }) => ({ sourceId: 'src-1', originId, alias: 'page' }));
  const digests = new Map<string, Buffer>();
  for (const ref of refs) {
    const { key, field } = fieldOfView(store, scope, ref);
    const stored = await store.client.hgetBuffer(key, field);
    const digest = stored && namesDigestOfBody(stored);
    if (digest) digests.set(keys.names(tagOf(key), tenant, 'src-1'), digest);
  }
  assert.ok(digests.size > 0, 'so many views with equal names omit them');
  for (const [key, digest] of digests) assert.equal(await store.client.hdel(key, digest), 1);
  const before = await verified(store);
  assert.ok(before.differences > 0);
  for (const { message } of before.findings) assert.equal(message, 'is missing');
  const repair = await verified(store, true);
  assert.equal(repair.repaired, before.differences);
  await platform.settle();
  assert.deepEqual((await verified(store)).findings, []);
  const found = await readViews(store, scope, refs);
  assert.ok(found.every((body) => body !== null));
});

test('verification: changes in progress are not differences', async (context) => {
  const platform = await sound(context);
  let writing = true;
  const writer = (async () => {
    for (let round = 0; writing; round += 1) {
      await platform.ingest([pageEntity(round % 30, { name: `Round ${round}`, group: `g${round % 2}` })]);
      if (round % 7 === 0) await platform.remove([`p${(round + 3) % 30}`]);
    }
  })();
  const results = [await verified(platform.store), await verified(platform.store)];
  writing = false;
  await writer;
  assert.deepEqual(
    results.flatMap(({ findings }) => findings),
    [],
  );
  await platform.settle();
  const { findings, unsettled } = await verified(platform.store);
  assert.deepEqual({ findings, unsettled }, { findings: [], unsettled: 0 });
});

test('verification: entities that are constantly deleted and created are not differences', async (context) => {
  const platform = await sound(context);
  let writing = true;
  const passBy = async (number: number) => {
    for (let round = 0; writing; round += 1) {
      await platform.remove([`p${number}`]);
      await platform.ingest([pageEntity(number, { name: `Round ${round}`, group: 'g0' })]);
    }
  };
  const writers = Promise.all([1, 2, 3, 4].map(passBy));
  const findings: Finding[] = [];
  for (let look = 0; look < 12; look += 1) findings.push(...(await verified(platform.store)).findings);
  writing = false;
  await writers;
  assert.deepEqual(findings, []);
});

const entityTag = (store: Store, originId: string) =>
  store.partitions.tag(store.partitions.ofEntity('src-1', originId));
const claimTag = (store: Store, field: string) =>
  store.partitions.tag(store.partitions.ofText(`${tenant}:${environmentId}:${field}`));
const viewsKey = (store: Store, originId: string) =>
  keys.views(entityTag(store, originId), tenant, environmentId, 'src-1');
const logKey = (store: Store, originId: string) =>
  keys.log(entityTag(store, originId), tenant, environmentId);
const itemsKey = (store: Store, originId: string) =>
  keys.items(entityTag(store, originId), tenant, environmentId, 'src-1', indexName.schema('pages'));
const claimsKey = (store: Store, field: string) => keys.claims(claimTag(store, field), tenant, environmentId);
const routesKey = (store: Store, url: string) =>
  keys.routes(claimTag(store, claimField.url(url)), tenant, environmentId);

async function firstKey(store: Store, pattern: string): Promise<string> {
  const [key] = (await store.client.keys(pattern)).sort();
  return key ?? assert.fail(`no key ${pattern}`);
}

const ranksKey = (store: Store, field: string) => keys.ranks(claimTag(store, field), tenant, environmentId);
/** The key of the claim of an entity's page on a contested field. */
const rivalOf = (field: string, originId: string) =>
  competingClaimField(field, {
    host: null,
    kind: 'page',
    view: { sourceId: 'src-1', alias: 'page', originId },
  });

/** The damage to a valid store, and what the report must name. */
const damages: readonly { what: string; subject: RegExp; damage(store: Store): Promise<unknown> }[] = [
  {
    what: 'a view that is gone',
    subject: /Entity\/p3\/View\/page$/,
    damage: (store) => store.client.hdel(viewsKey(store, 'p3'), viewField('page', 'p3')),
  },
  {
    what: 'a view with other bytes',
    subject: /Entity\/g1\/View\/group$/,
    damage: (store) =>
      store.client.hset(viewsKey(store, 'g1'), viewField('group', 'g1'), Buffer.from('\u0000{"members":[]}')),
  },
  {
    what: 'a view that no entity makes',
    subject: /Entity\/ghost\/View\/page$/,
    damage: (store) => store.client.hset(viewsKey(store, 'ghost'), viewField('page', 'ghost'), 'boo'),
  },
  {
    what: 'the body of a large view that no entity makes',
    subject: /Entity\/ghost\/View\/page$/,
    damage: (store) =>
      store.client.hset(viewsKey(store, 'ghost'), largeBodyField(viewField('page', 'ghost')), 'boo'),
  },
  {
    what: 'a view of an environment that never was',
    subject: /Environment\/env-9\/.*Entity\/p1\/View\/page$/,
    damage: (store) =>
      store.client.hset(
        keys.views(entityTag(store, 'p1'), tenant, 'env-9', 'src-1'),
        viewField('page', 'p1'),
        'boo',
      ),
  },
  {
    what: 'an index item that is gone',
    subject: /Entity\/p4 in index pages/,
    damage: (store) => store.client.hdel(itemsKey(store, 'p4'), 'p4'),
  },
  {
    what: 'an index item with other values',
    subject: /Entity\/p4 in index pages/,
    damage: (store) => store.client.hset(itemsKey(store, 'p4'), 'p4', '[1,{"name":"wrong"}]'),
  },
  {
    what: 'an index item that no entity makes',
    subject: /Entity\/ghost in index cms type page/,
    damage: (store) =>
      store.client.hset(
        keys.items(entityTag(store, 'ghost'), tenant, environmentId, 'src-1', indexName.auto('cms', 'page')),
        'ghost',
        '[1,{}]',
      ),
  },
  {
    what: 'a URL that is claimed no more',
    subject: /Entity\/p5\/View\/page$/,
    damage: (store) => store.client.hdel(claimsKey(store, 'u:/pages/5'), 'u:/pages/5'),
  },
  {
    what: 'a handle that points at another view',
    subject: /Entity\/p5\/View\/page$/,
    damage: async (store) => {
      const other = await store.client.hgetBuffer(claimsKey(store, 'h:page-p6'), 'h:page-p6');
      await store.client.hset(claimsKey(store, 'h:page-p5'), 'h:page-p5', other ?? assert.fail());
    },
  },
  {
    what: 'a claim that no view makes',
    subject: /Entity\/p7\/View\/page$/,
    damage: async (store) => {
      const other = await store.client.hgetBuffer(claimsKey(store, 'u:/pages/7'), 'u:/pages/7');
      await store.client.hset(claimsKey(store, 'u:/stray'), 'u:/stray', other ?? assert.fail());
    },
  },
  {
    what: 'a URL that is missing in the list of routes',
    subject: /URL "\/pages\/8"/,
    damage: (store) => damageList(store.client, routesKey(store, '/pages/8'), '/pages/8', false),
  },
  {
    what: 'a URL in the list of routes that nothing claims',
    subject: /URL "\/nowhere"/,
    damage: (store) => damageList(store.client, routesKey(store, '/nowhere'), '/nowhere', true),
  },
  {
    what: 'a clash that is counted but is none',
    subject: /URL "\/pages\/9"/,
    damage: (store) =>
      store.client.hset(keys.clashes(claimTag(store, 'u:/pages/9'), tenant, environmentId), 'u:/pages/9', 2),
  },
  {
    what: 'one of several claims that is gone',
    subject: /Entity\/t1\/View\/page$/,
    damage: (store) => store.client.hdel(claimsKey(store, 'u:/contested'), rivalOf('u:/contested', 't1')),
  },
  {
    what: 'one of several claims with another age',
    subject: /Entity\/t1\/View\/page$/,
    damage: async (store) => {
      const key = claimsKey(store, 'u:/contested');
      const stored = await store.client.hgetBuffer(key, rivalOf('u:/contested', 't1'));
      const claim = unpack<unknown[]>(stored ?? assert.fail());
      const other = [77, ...claim.slice(1)];
      await store.client.hset(key, rivalOf('u:/contested', 't1'), pack(other));
    },
  },
  {
    what: 'one of several claims that no view makes',
    subject: /Entity\/ghost\/View\/page$/,
    damage: async (store) => {
      const key = claimsKey(store, 'u:/contested');
      const stored = await store.client.hgetBuffer(key, rivalOf('u:/contested', 't1'));
      const claim = unpack<unknown[]>(stored ?? assert.fail());
      const ghosts = [...claim.slice(0, 3), 'ghost', ...claim.slice(4)];
      await store.client.hset(key, rivalOf('u:/contested', 'ghost'), pack(ghosts));
    },
  },
  {
    what: 'one of several claims on a field with one',
    subject: /Entity\/ghost\/View\/page$/,
    damage: async (store) => {
      const stored = await store.client.hgetBuffer(claimsKey(store, 'u:/pages/7'), 'u:/pages/7');
      const claim = unpack<unknown[]>(stored ?? assert.fail());
      const ghosts = [...claim.slice(0, 3), 'ghost', ...claim.slice(4)];
      const key = claimsKey(store, 'u:/pages/7');
      await store.client.hset(key, rivalOf('u:/pages/7', 'ghost'), pack(ghosts));
    },
  },
  {
    what: 'the order of several claims that is gone',
    subject: /Entity\/t\d\/View\/page$/,
    damage: (store) => store.client.del(ranksKey(store, 'u:/contested')),
  },
  {
    what: 'a place in the order of several claims that is no claim',
    subject: /URL "\/contested"/,
    damage: (store) =>
      store.client.zadd(
        ranksKey(store, 'u:/contested'),
        0,
        rankMember('u:/contested', {
          host: null,
          kind: 'page',
          sinceStamp: 5,
          view: { sourceId: 'src-1', alias: 'page', originId: 't1' },
        }),
      ),
  },
  {
    what: 'a place in the order of claims on a field that nobody claims',
    subject: /URL "\/nobody"/,
    damage: (store) =>
      store.client.zadd(
        ranksKey(store, 'u:/nobody'),
        0,
        rankMember('u:/nobody', {
          host: null,
          kind: 'page',
          sinceStamp: 5,
          view: { sourceId: 'src-1', alias: 'page', originId: 'p1' },
        }),
      ),
  },
  {
    what: 'another claim that is served than the first of several',
    subject: /URL "\/contested"/,
    damage: async (store) => {
      const key = claimsKey(store, 'u:/contested');
      const served = await store.client.hgetBuffer(key, 'u:/contested');
      const other = served?.toString('latin1').replace('t3', 't1') ?? assert.fail();
      await store.client.hset(key, 'u:/contested', Buffer.from(other, 'latin1'));
    },
  },
  {
    what: 'one record of several claims that names one alone',
    subject: /Entity\/t\d\/View\/page$/,
    damage: async (store) => {
      const key = claimsKey(store, 'u:/contested');
      const stored = await store.client.hgetBuffer(key, rivalOf('u:/contested', 't1'));
      await store.client.hset(key, 'u:/contested', stored ?? assert.fail());
    },
  },
  {
    what: 'a view that refers to another, of which the other does not know',
    subject: /Entity\/p2\/View\/page$/,
    damage: async (store) => {
      for (const key of await store.client.keys('*:referrers:*')) {
        if ((await store.client.hdel(key, ':page:p2')) === 1) return;
      }
      assert.fail('nothing knows that p2 refers to it');
    },
  },
  {
    what: 'a view that is missing from the change log',
    subject: /Entity\/p4\/View\/page$/,
    damage: async (store) => {
      const key = logKey(store, 'p4');
      const members = await store.client.zrange(key, '0', '-1');
      const member = members.find((name) => name.endsWith(':p4'));
      return await store.client.zrem(key, member ?? assert.fail());
    },
  },
  {
    what: 'a view in the change log that no entity makes',
    subject: /Entity\/ghost\/View\/page$/,
    damage: async (store) => {
      const tag = entityTag(store, 'ghost');
      const number = await store.client.hget(keys.logNames(tag, tenant, environmentId), 'src-1:page');
      return await store.client.zadd(logKey(store, 'ghost'), 5, `${number}:ghost`);
    },
  },
  {
    what: 'an entity that is missing in a lookup index',
    subject: /Source\/src-1\/Entity\/p/,
    damage: async (store) => {
      const key = await firstKey(store, '*:lookup:*');
      const [originId] = await store.client.hkeys(key);
      await store.client.hdel(key, originId ?? assert.fail());
    },
  },
  {
    what: 'an entity with other values in a lookup index',
    subject: /Source\/src-1\/Entity\/p/,
    damage: async (store) => {
      const key = await firstKey(store, '*:lookup:*');
      const [originId] = await store.client.hkeys(key);
      await store.client.hset(key, originId ?? assert.fail(), '["page","g7","?",null]');
    },
  },
  {
    what: 'an entity in a lookup index that it does not belong to',
    subject: /Source\/src-1\/Entity\/g2/,
    damage: async (store) => {
      const key = await firstKey(store, '*:lookup:*');
      const [value] = await store.client.hvals(key);
      await store.client.hset(key, 'g2', value ?? assert.fail());
    },
  },
  {
    what: 'a view that nobody would rebuild',
    subject: /Entity\/g\d\/View\/group$/,
    damage: async (store) => store.client.del(await firstKey(store, '*:dependents:*')),
  },
  {
    what: 'an entity whose record is gone',
    subject: /Source\/src-1\/Entity\/p11/,
    damage: (store) => store.client.hdel(keys.processed(entityTag(store, 'p11'), tenant, 'src-1'), 'p11'),
  },
  {
    what: 'an entity that went without a word',
    subject: /Entity\/p12\/View\/page$/,
    damage: async (store) => {
      await store.client.hdel(keys.entities(entityTag(store, 'p12'), tenant, 'src-1'), 'p12');
    },
  },
];

test('verification: every kind of damage is found and named, and is gone after a repair', async (context) => {
  const platform = await sound(context);
  const { store } = platform;
  for (const originId of ['t1', 't2', 't3']) {
    await platform.ingest([page(originId, { name: originId, group: 'g0' }, { url: '/contested' })]);
  }
  await platform.settle();
  for (const { what, subject, damage } of damages) {
    await damage(store);
    const found = await verified(store);
    assert.ok(found.differences > 0, `${what} is not found`);
    assert.ok(
      found.findings.some((finding) => subject.test(finding.subject)),
      `${what}: ${JSON.stringify(found.findings)}`,
    );
    const repaired = await verified(store, true);
    assert.equal(repaired.repaired, repaired.differences, `${what}: ${JSON.stringify(repaired.findings)}`);
    const after = await verified(store);
    assert.deepEqual(after.findings, [], what);
    await platform.ingest(pages);
    await platform.settle();
  }
});

test('verification: a repair restores the previous state, byte for byte, with the age of its claims', async (context) => {
  const platform = await sound(context);
  const { store } = platform;
  const snapshot = async () => {
    const views = await readViews(
      store,
      scope,
      pages.map(({ originId }) => ({ sourceId: 'src-1', alias: 'page', originId })),
    );
    const claims = await Promise.all(
      pages.map(({ url }) => store.client.hgetBuffer(claimsKey(store, `u:${url}`), `u:${url}`)),
    );
    return { views, claims };
  };
  const before = await snapshot();
  for (const tag of store.partitions.tags) {
    await store.client.del(
      keys.views(tag, tenant, environmentId, 'src-1'),
      keys.claims(tag, tenant, environmentId),
    );
  }
  const { differences, repaired } = await verified(store, true);
  assert.ok(differences > 90);
  assert.equal(repaired, differences);
  assert.deepEqual(await snapshot(), before);
});

test('verification: a difference explained by an unprocessed change is ignored, and one next to it is reported', async (context) => {
  const platform = await sound(context);
  await platform.ingest([page('new', { name: 'New', group: 'g0' })]);
  await platform.store.client.hdel(viewsKey(platform.store, 'p3'), viewField('page', 'p3'));
  const { findings } = await verified(platform.store);
  assert.deepEqual(
    findings.map(({ subject, message }) => [subject, message]),
    [[`gid://Environment/${environmentId}/Source/src-1/Entity/p3/View/page`, 'is missing']],
  );
});

test('verification: verify reads the record of an entity with many redirects a few times, not once for each', async (context) => {
  const platform = await sound(context);
  const { store } = platform;
  const redirects = Array.from({ length: redirectsMax }, (_, at) => `/many/${at}`);
  await platform.ingest([{ ...pageEntity(3), redirects }]);
  await platform.settle();
  const before = await bytesMoved(store.client);
  assert.deepEqual((await verified(store)).findings, []);
  const bytes = (await bytesMoved(store.client)) - before;
  assert.ok(bytes < 5_000_000, `${bytes} bytes`);
});
