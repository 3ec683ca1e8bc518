import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { checkBackup } from '../../src/cli/backup/read-backup.ts';
import { writeBackup } from '../../src/cli/backup/write.ts';
import { withStore } from '../../src/cli/platform/open-store.ts';
import { CommandStop } from '../../src/cli/terminal/command-line.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { hashKeys } from '../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import { readConfiguration } from '../../src/config/documents/read-documents.ts';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import {
  publishConfiguration,
  readPublished,
} from '../../src/store/configuration/published-configuration.ts';
import { readProcessed } from '../../src/store/derived/processed.ts';
import { encodeProcessed } from '../../src/store/derived/processed-record.ts';
import { acceptEntities } from '../../src/store/entities/accept.ts';
import { AutoFields } from '../../src/store/entities/auto-fields.ts';
import { readEntities } from '../../src/store/entities/entities.ts';
import { encodeEntity } from '../../src/store/entities/entity-record.ts';
import { holdForRestore, restoreSnapshots } from '../../src/store/entities/snapshots.ts';
import { keys } from '../../src/store/keys.ts';
import { waitUntilSettled } from '../../src/store/partitions/partition-state.ts';
import { FencedError, StoreUnavailableError } from '../../src/store/redis/redis-errors.ts';
import type { Store } from '../../src/store/store.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { entityOf } from '../system/support/data/entities.ts';
import { System } from '../system/support/processes/system.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../system/support/site.ts';
import { type CommandResult, runCommand, temporaryFolder } from './support/command.ts';

const tenant = 'acme';
const files = siteFiles({
  schemas: {
    page: {
      triggers: { cms: ['page'] },
      route: { url: '{url}', handles: ['{p.slug}'] },
      properties: {
        title: '{p.title}',
        nested: '{p.nested}',
        next: { type: 'reference', alias: 'page', originId: '{p.next}' },
      },
    },
    list: {
      triggers: { cms: ['list'] },
      properties: {
        members: {
          type: 'array',
          input: {
            $lookup: {
              operator: 'equals',
              sourceEntityProperty: 'group',
              matchValue: '{originId}',
              orderBy: { property: 'title', sort: 'desc' },
            },
          },
          items: '{item.p.title}',
        },
      },
    },
  },
  indexes: {
    pages: {
      triggers: { cms: ['page'] },
      properties: { title: '{p.title}', group: '{p.group}' },
      index: { fields: { title: { type: 'text' }, group: { type: 'keyword' } } },
    },
  },
});

function viewId(originId: string, alias: string): string {
  return `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/${alias}`;
}

async function ingest(system: System, entities: readonly JsonObject[]): Promise<void> {
  const answer = await system.client().post('/ingest/v2', entities as Json[], { key: sourceKey });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json.errors, {});
}

function pageOf(originId: string, properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { originId, type: 'page', properties, ...rest };
}

const stablePages = Array.from({ length: 40 }, (_, index) => `p${index}`);

/** Entities whose history is visible in views, routes and answers: conflicts, moved claims, first values of fields. */
async function tellHistory(system: System): Promise<void> {
  const settle = async () => waitUntilSettled(await system.store());
  // Determines the type of `size`, and is deleted afterwards: the first entity in a restored store has a string there.
  await ingest(system, [{ originId: 'first', type: 'thing', properties: { size: 1 } }]);
  await settle();
  await ingest(system, [
    ...Array.from({ length: 5 }, (_, index) => ({
      originId: `t${index}`,
      type: 'thing',
      properties: { size: index % 2 === 0 ? `text ${index}` : index, [`own${index}`]: true },
    })),
    { originId: 'g0', type: 'list', properties: {} },
    { originId: 'g1', type: 'list', properties: {} },
    ...stablePages.map((originId, index) =>
      pageOf(
        originId,
        {
          title: `Title ${index} ü`,
          group: `g${index % 2}`,
          next: index % 2 === 0 ? `p${index + 1}` : null,
          nested: { b: 1, a: [2, {}] },
        },
        { url: `/pages/${index}`, redirects: [`/old/${index}`, '/old/shared'], originParentId: 'g0' },
      ),
    ),
  ]);
  await settle();
  // The older entity takes the handle after the younger one: by creation time alone the younger one would have it.
  await ingest(system, [pageOf('young', { title: 'young', slug: 'shared' })]);
  await settle();
  await ingest(system, [pageOf('p1', { title: 'moved', slug: 'shared', group: 'g1' }, { url: '/pages/1' })]);
  await settle();
  await ingest(system, [
    pageOf('young', { title: 'young, changed later', slug: 'shared' }),
    pageOf('p2', { title: 'at the url of another', group: 'g0' }, { url: '/pages/3' }),
  ]);
  await system.client().delete('/ingest/v2/first', { key: sourceKey });
  await settle();
}

/** What readers get for the unchanged entities, as text. */
async function answersOf(system: System): Promise<Record<string, string>> {
  const client = system.client();
  const answers: Record<string, string> = {};
  const note = async (name: string, asked: Promise<{ readonly text: string }>) => {
    // Tokens and cursors are sealed with a secret of each store.
    answers[name] = (await asked).text.replace(
      /"(nextPageToken|startCursor|endCursor)":"[^"]*"/g,
      '"$1":"…"',
    );
  };
  const ids = [...stablePages, 'young'].map((originId) => viewId(originId, 'page'));
  const key = clientKey;
  await note(
    'views',
    client.post('/v2', { ids: [...ids, viewId('g0', 'list'), viewId('g1', 'list')] }, { key }),
  );
  for (const url of ['/pages/1', '/pages/3', '/pages/2', '/old/7', '/old/shared']) {
    await note(url, client.get(`/v2?url=${url}`, { key }));
  }
  await note('handle', client.get('/v2?handle=shared', { key }));
  await note('routes', client.get('/routes/v1?first=500', { key }));
  const all = { pagination: { pageSize: 100 }, sort: [{ field: '_updatedAt' }] };
  const mine = {
    filters: { or: ['g0', 'g1'].map((value) => ({ field: 'group', operator: 'equals', value })) },
  };
  const facets = [{ field: 'group' }];
  await note('index', client.post('/v1/pages', { ...all, ...mine, facets, aliases: ['page'] }, { key }));
  await note(
    'search',
    client.post('/v1/pages', { ...mine, search: { field: 'title', value: 'Titel' } }, { key }),
  );
  const things = '/v1/sourceGroupAlias/cms/type/thing';
  await note('things', client.post(things, { ...all, facets: [{ field: 'size' }] }, { key }));
  const numbers = { and: [{ field: 'size', operator: 'greaterThan', value: 0 }] };
  await note('numbers', client.post(things, { ...all, filters: numbers }, { key }));
  return answers;
}

async function startSystem(context: TestContext, partitions: number): Promise<System> {
  const system = await System.start({ web: 1, workers: 1, jobs: 0, partitions, files });
  context.after(() => system.stop());
  return system;
}

test('backup: a backup taken during writes and restored elsewhere gives the same views, routes and answers', async (context) => {
  const folder = await temporaryFolder(context);
  const file = path.join(folder, 'backup.ndjson.gz');
  const [from, to] = await Promise.all([startSystem(context, 4), startSystem(context, 3)]);
  await tellHistory(from);
  const before = await answersOf(from);
  const soon = { publishAt: new Date(Date.now() + 4_000).toISOString(), unpublishAt: '2999-01-01T00:00Z' };
  await ingest(from, [
    pageOf('rival', { title: 'rival', slug: 'race' }),
    pageOf('soon', { title: 'soon', slug: 'race' }, soon),
    pageOf('later', { title: 'later', slug: 'later' }, { publishAt: '2999-01-01T00:00Z' }),
  ]);

  let isWriting = true;
  let written = 0;
  const writing = (async () => {
    for (; isWriting; written += 1) {
      const properties = { title: `live ${written}`, group: 'live' };
      await ingest(from, [
        pageOf(`live-${written % 60}`, properties),
        pageOf(`live-new-${written}`, properties),
      ]);
    }
  })();
  const backup = await runCommand('backup', [file], { env: from.environment() as Record<string, string> });
  isWriting = false;
  await writing;
  assert.equal(backup.code, 0, backup.stderr);
  assert.match(backup.stdout, /backup\.ndjson\.gz: [\d,]+ entities, 4 configuration files\./);
  assert.match(backup.stderr, /% [\d,]+ entities written/);
  assert.equal((await stat(file)).mode & 0o077, 0, 'nobody else can read it');
  assert.ok(written > 0);

  const restored = await runCommand('restore', [file], { env: to.environment() as Record<string, string> });
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /Restored [\d,]+ entities and 4 configuration files of 20/);
  await waitUntilSettled(await to.store());
  const after = await answersOf(to);
  // Scores count all items of the index, and concurrent writes may or may not be in the backup.
  const withoutScores = (text: string | undefined) => text?.replace(/"_score":[\d.e-]+/g, '"_score":0');
  for (const [name, text] of Object.entries(before)) {
    assert.equal(withoutScores(after[name]), withoutScores(text), name);
  }

  const again = await to
    .client()
    .post(
      '/ingest/v2',
      [pageOf('p1', { slug: 'shared', group: 'g1', title: 'moved' }, { url: '/pages/1' })] as Json[],
      { key: sourceKey },
    );
  assert.deepEqual(again.json.unchangedSourceEntities, ['p1'], 'a restored entity counts as unchanged');
  const titleOf = async (slug: string) => {
    const { json } = await to.client().get(`/v2?handle=${slug}`, { key: clientKey });
    return json.views[slug]?.title ?? null;
  };
  await until(
    'entities that became due meanwhile are published',
    async () => (await titleOf('race')) === 'soon',
  );
  assert.equal(await titleOf('later'), null);
  await assertVerified(to);
});

/** `npm run verify` finds that the store equals a fresh computation. */
async function assertVerified(system: System): Promise<void> {
  const verified = await runCommand('verify', [], { env: system.environment() as Record<string, string> });
  assert.deepEqual([verified.code, /No differences\./.test(verified.stdout)], [0, true], verified.stdout);
}

const redis = await TestRedis.start();
const partitionCount = 2;
const env = {
  REDIS_URL: redis.url,
  REDIS_CLUSTER: '',
  PARTITIONS: String(partitionCount),
  CONFIG_DIR: 'config',
};

/** A backup of a small store without any process, and its entities as they are stored. */
async function smallBackup(context: TestContext, site = files): Promise<{ file: string; store: Store }> {
  const store = await redis.openEmptyStore(partitionCount);
  const documents = hashKeys(
    new Map(Object.entries(site).map(([name, json]) => [name, JSON.stringify(json)])),
  );
  const loaded = loadConfiguration(documents);
  assert.ok(loaded.ok);
  await publishConfiguration(store, documents, loaded.configuration);
  for (const title of ['first', 'second']) {
    const entities = ['a', 'b', 'c'].map((originId) =>
      encodeEntity(entityOf(originId, 'page', { title, originId }, { url: `/${originId}` })),
    );
    await acceptEntities(store, { tenant, sourceId, force: false, entities });
  }
  await new AutoFields(store).decide(tenant, sourceId, 'page', new Map([['title', 'double']]));
  const file = path.join(await temporaryFolder(context), 'small.gz');
  await runBackup(store, file);
  return { file, store };
}

const refs = ['a', 'b', 'c'].map((originId) => ({ sourceId, originId }));

/** A refusal is one line. */
function assertRefused({ code, stderr }: CommandResult, pattern: RegExp): void {
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => !/^\d+ % /.test(line));
  assert.deepEqual([code, lines.length], [1, 1], stderr);
  assert.match(lines[0] ?? '', pattern);
}

test('backup: a restore keeps the stamps of entities, resumes after an interruption, and needs an empty store', async (context) => {
  const { file, store } = await smallBackup(context);
  const entities = await readEntities(store, tenant, refs);
  assert.ok(entities.every((entity) => entity !== null && entity.bornStamp < entity.stamp));
  const configOut = path.join(path.dirname(file), 'config');
  assertRefused(
    await runCommand('restore', [file, '--config-out', configOut], { env }),
    /^This store is not empty\. .* Nothing was restored\.$/,
  );
  await assert.rejects(runBackup(store, file), /^Error: .* already exists/);
  await assert.rejects(runBackup(store, '/nowhere/a.gz'), /^Error: \/nowhere\/a\.gz cannot be written/);

  // Aborted after the first entity, which then changed.
  const target = await redis.openEmptyStore(partitionCount);
  const end =
    gunzipSync(await readFile(file))
      .toString()
      .trim()
      .split('\n')
      .at(-1) ?? '';
  const token = String((JSON.parse(end) as JsonObject).sha256);
  assert.equal(await holdForRestore(target, token), 'held');
  const [first] = entities;
  assert.ok(first);
  for (let time = 0; time < 2; time += 1) {
    await restoreSnapshots(target, token, tenant, sourceId, [{ entity: first, processed: null }]);
  }
  const tag = target.partitions.tag(target.partitions.ofEntity(sourceId, 'a'));
  assert.equal(await target.client.xlen(keys.stream(tag)), 1, 'a repeated call announces nothing');
  assert.equal(await holdForRestore(target, 'another backup'), 'otherRestore');
  const changed = encodeEntity(entityOf('a', 'page', { title: 'newer' }));
  await acceptEntities(target, { tenant, sourceId, force: false, entities: [changed] });

  // Rejected before the restore is finished, because a finished one cannot be repeated.
  assertRefused(
    await runCommand('restore', [file, '--config-out', path.join(file, 'config')], { env }),
    /^--config-out cannot be written: ENOTDIR.*\. Nothing was restored; choose another folder\.$/,
  );

  const finished = await runCommand('restore', [file, '--config-out', configOut], { env });
  assert.equal(finished.code, 0, finished.stderr);
  assert.deepEqual((await readdir(path.dirname(file))).sort(), ['config', 'small.gz']);
  for (const name of ['', ...(await readdir(configOut, { recursive: true }))]) {
    const facts = await stat(path.join(configOut, name));
    assert.equal(facts.mode & 0o777, facts.isDirectory() ? 0o700 : 0o600, name);
  }
  assert.match(
    finished.stdout,
    /Restored 3 entities .*\nNote: .* contains a configuration other than that of the backup/,
  );
  const [newer, ...others] = await readEntities(target, tenant, refs);
  assert.deepEqual(others, entities.slice(1));
  assert.deepEqual(newer?.properties, { title: 'newer' }, 'what was written meanwhile stays');
  const fields = await new AutoFields(target).read(tenant, sourceId, 'page');
  assert.deepEqual([...(fields ?? [])], [['title', 'double']]);
  const written = await readConfiguration(configOut);
  assert.equal(written.ok && written.configuration.digest, (await activeConfiguration(target)).digest);
  assert.equal(await holdForRestore(target, token), 'notEmpty', 'a finished restore leaves no state');
  const again = restoreSnapshots(target, token, tenant, sourceId, [{ entity: first, processed: null }]);
  await assert.rejects(again, FencedError);
});

async function activeConfiguration(store: Store): Promise<Configuration> {
  const published = await readPublished(store);
  const loaded = loadConfiguration(published?.documents ?? new Map());
  assert.ok(loaded.ok);
  return loaded.configuration;
}

async function backupOptions(store: Store, file: string): Promise<Parameters<typeof writeBackup>[0]> {
  const published = await readPublished(store);
  assert.ok(published);
  const configuration = await activeConfiguration(store);
  const { signal } = new AbortController();
  return { store, published, configuration, file, signal, onProgress: () => {} };
}

async function runBackup(store: Store, file: string): Promise<void> {
  await writeBackup(await backupOptions(store, file), async () => null);
}

test('backup: a restore lists the secrets of webhooks that must be written again', async (context) => {
  const name = `tenants/${tenant}/tenant.json`;
  const secret = `whsec_${Buffer.from('a secret').toString('base64')}`;
  const hook = { environment: 'production', url: 'https://hooks.example.com', secret };
  const webhooks = [
    { ...hook, alias: 'one' },
    { ...hook, alias: 'two', headers: { Authorization: 'Bearer x' } },
  ];
  const { file } = await smallBackup(context, {
    ...files,
    [name]: { ...(files[name] as JsonObject), webhooks },
  });
  await redis.openEmptyStore(partitionCount);
  const { code, stdout, stderr } = await runCommand('restore', [file], { env });
  assert.equal(code, 0, stderr);
  const places = ['[0].secret', '[1].secret', '[1].headers.authorization'];
  const listed = places.map((place) => `${name} $.webhooks${place}`).join(', ');
  assert.ok(stdout.includes(`Write the values of ${listed}.`), stdout);
  assert.ok(!stdout.includes(secret));
});

test('backup: of two backups to one file the first to finish is kept, complete', async (context) => {
  const { file, store } = await smallBackup(context);
  const twice = path.join(path.dirname(file), 'twice.gz');
  const options = await backupOptions(store, twice);
  const second = writeBackup(options, async () => {
    await runBackup(store, twice);
    return null;
  });
  await assert.rejects(second, /^Error: .*twice\.gz already exists/);
  assert.equal((await checkBackup(twice, () => {})).entities, 3);
  assert.deepEqual((await readdir(path.dirname(file))).sort(), ['small.gz', 'twice.gz']);
});

test('backup: a truncated, changed or foreign file is rejected before anything is written', async (context) => {
  const { file } = await smallBackup(context);
  await redis.flush();
  const whole = await readFile(file);
  const text = gunzipSync(whole).toString();
  const lines = text.trimEnd().split('\n');
  const entityAt = lines.findIndex((line) => line.startsWith('{"kind":"entity"'));
  const joined = (some: readonly string[]) => gzipSync(`${some.join('\n')}\n`);
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(flipped.readUInt8(whole.length >> 1) ^ 0xff, whole.length >> 1);
  const broken: Readonly<Record<string, Buffer>> = {
    'cut in the middle': whole.subarray(0, whole.length >> 1),
    'cut at its end': whole.subarray(0, whole.length - 1),
    'a flipped byte': flipped,
    'no end': joined(lines.slice(0, -1)),
    'an entity less': joined(lines.filter((line) => !line.includes('"originId":"b"'))),
    'an entity that cannot be read': joined(
      lines.map((line, at) => (at === entityAt ? line.slice(0, -2) : line)),
    ),
    'an entity changed': gzipSync(text.replace('"title":"second"', '"title":"forged"')),
    'more behind its end': joined([...lines, lines.at(-2) ?? '']),
    'no gzip': Buffer.from(text),
    'another file': gzipSync('{"originId":"a","type":"page","properties":{}}\n'),
    empty: Buffer.alloc(0),
  };
  for (const [name, bytes] of Object.entries(broken)) {
    const other = path.join(path.dirname(file), 'broken.gz');
    await writeFile(other, bytes);
    await assert.rejects(
      checkBackup(other, () => {}),
      /^Error: .*broken\.gz is not a complete backup: /,
      name,
    );
  }
  const unreadable = path.join(path.dirname(file), 'broken.gz');
  await writeFile(unreadable, broken['an entity that cannot be read'] ?? '');
  await assert.rejects(
    checkBackup(unreadable, () => {}),
    new RegExp(`broken\\.gz is not a complete backup: line ${entityAt + 1} cannot be read\\.$`),
  );
  await writeFile(file, broken['cut at its end'] ?? '');
  assertRefused(
    await runCommand('restore', [file], { env }),
    /is not a complete backup: .*\. Nothing was restored\.$/,
  );
  const later = path.join(path.dirname(file), 'later.gz');
  await writeFile(later, gzipSync(text.replace('"version":1', '"version":2')));
  await assert.rejects(
    checkBackup(later, () => {}),
    /was written by another version of Millrace/,
  );
  const store = await redis.openStore(partitionCount);
  assert.deepEqual(await store.client.keys('*'), [keys.layout], 'this check alone wrote something');
});

test('backup: a Redis that fails during a command is reported in one line that says what to do', async () => {
  const address = { kind: 'single', url: redis.url } as const;
  await redis.flush();
  const settings = { partitions: partitionCount, confirmReplicas: 0, replicaWaitMs: 1_000 };
  const command = withStore(address, settings, 1_000, async () => {
    throw new StoreUnavailableError('Redis: Connection is closed.');
  });
  await assert.rejects(command, (error) => {
    assert.ok(error instanceof CommandStop);
    assert.match(error.message, /^Redis at .* stopped answering .*\. Run this command again\.$/);
    return true;
  });
});

test('backup: claims are restored without results, and never replace a state of the entity', async () => {
  const store = await redis.openEmptyStore(partitionCount);
  await holdForRestore(store, 'token');
  const entity = { ...entityOf('a', 'page', {}), sourceId, stamp: 5_000, bornStamp: 1_000, urlStamp: 1_000 };
  const claim = {
    field: 'h:x',
    host: null,
    kind: 'page',
    sinceStamp: 3_000,
    display: 'x',
    redirect: null,
  } as const;
  const output = (kind: 'view' | 'item', claims: readonly (typeof claim)[]) => ({
    kind,
    environmentId,
    name: kind,
    schemaDigest: 'digest',
    bytesDigest: Buffer.from('bytes'),
    claims,
    dependsOn: [[sourceId, 'key']] as const,
  });
  const processed = {
    stamp: 5_000,
    type: 'page',
    lookups: [{ layoutId: 'layout', keys: ['key'] }],
    outputs: [output('view', [claim]), output('item', [])],
  };
  await restoreSnapshots(store, 'token', tenant, sourceId, [{ entity, processed }]);
  const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, 'a'));
  const [record] = await readProcessed(store, tag, tenant, sourceId, ['a']);
  const bare = { ...output('view', [claim]), schemaDigest: '', bytesDigest: Buffer.alloc(0), dependsOn: [] };
  const expected = { stamp: 5_000.5, type: 'page', lookups: [], outputs: [bare] };
  assert.ok(record);
  assert.deepEqual(encodeProcessed(record), encodeProcessed(expected));
});
