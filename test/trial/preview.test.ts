import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import { destinationOptionsCharactersMax, handleCodePointsMax } from '../../src/contract/limits.ts';
import { runCommand } from '../cli/support/command.ts';
import type { Answer, Client } from '../system/support/client.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';
import { clientKey, managementKey, siteFiles, sourceKey, viewIdOf } from '../system/support/site.ts';

const page = {
  triggers: { cms: ['page'] },
  route: { url: '{url}', handles: ['{p.handle}'] },
  properties: { title: '{p.title}' },
};

/** In a folder, next to an import. */
const teaser = `import { short } from './short.ts';
export default {
  triggers(context) { context.triggers('cms', ['teaser']); },
  properties({ properties }) { return { title: short(properties.title) }; },
};`;

let system: System;
let client: Client;
let folder: string;

before(async () => {
  system = await sharedPlatform(
    siteFiles({
      tenant: 'previews',
      schemas: { page },
      indexes: {
        pages: {
          triggers: { cms: ['page'] },
          index: { fields: { title: { type: 'text' }, size: { type: 'integer' } } },
          properties: { title: '{p.title}', size: '{p.size}' },
        },
      },
      code: {
        'schemas/note.full.ts': `export default {
  triggers(context) { context.triggers('cms', ['note']); },
  async properties(entity, context) {
    console.log('at', entity.originId);
    const same = await context.lookup("properties.tag eq 'x'");
    return { same: same.length };
  },
};`,
        'schemas/Blog/short.ts': 'export const short = (text) => String(text).slice(0, 4);',
        'schemas/Blog/teaser.full.ts': teaser,
      },
      settings: { managementClients: [{ name: 'ci', scopes: ['read'], apiKeys: [managementKey] }] },
    }),
  );
  client = system.client('web.1');
  folder = await mkdtemp(path.join(tmpdir(), 'millrace-preview-'));
  const entities = Array.from({ length: 40 }, (_, at) => ({
    originId: `p${at}`,
    type: 'page',
    url: `/p${at}`,
    redirects: [`/old-p${at}`],
    properties: { title: `Page ${at}`, tag: at % 4 === 0 ? 'x' : 'y', size: at, handle: `h${at}` },
  }));
  const saved = await client.post('/ingest/v2', entities, { key: sourceKey });
  assert.equal(saved.status, 200);
  const version = String(saved.headers['x-service-version']);
  const headers = { 'X-Service-Min-Version': version };
  assert.equal((await client.get('/v2?handle=h39', { key: clientKey, headers })).status, 200);
});

const preview = (body: JsonObject, key = managementKey): Promise<Answer> =>
  client.post('/management/v1/preview', body, { key });
const text = (schema: Json, kind = 'full'): JsonObject => ({
  kind,
  language: 'json',
  text: JSON.stringify(schema),
});

/**
 * Every key of the store, so that a preview that stores anything is detected. Not those of processes and their queues, and not
 * the removals of tests that used the platform before, which expire meanwhile.
 */
async function keysOfStore(): Promise<string[]> {
  const names = await (await system.store()).client.keys('*');
  return names.filter((name) => !/process|jobs|:remov(?:al|ed):/.test(name)).sort();
}

test('preview: a stored schema of a stored entity gives what is delivered', async () => {
  const { status, json } = await preview({ schema: 'page', originId: 'p1' });
  assert.equal(status, 200);
  const { milliseconds, ...rest } = json;
  assert.equal(typeof milliseconds, 'number');
  assert.deepEqual(rest, {
    view: { title: 'Page 1' },
    urls: ['/p1', '/old-p1'],
    handles: ['h1'],
    lookups: [],
    missing: [],
    diagnostics: [],
  });
  const index = await preview({
    schema: 'index:pages',
    originId: 'p1',
    sourceGroup: 'cms',
    environment: 'production',
  });
  assert.deepEqual([index.json.view, index.json.item], [null, { title: 'Page 1', size: 1 }]);
});

test('preview: a schema and an entity need not be stored; references and lookups work, and nothing is stored', async () => {
  const before = await keysOfStore();
  const schema = {
    triggers: { cms: ['fresh'] },
    route: { url: '{url}', handles: ['{p.handle}'] },
  };
  const { status, json } = await preview({
    schema: text({
      ...schema,
      properties: {
        to: { type: 'reference', originId: 'p1', alias: 'page' },
        away: { type: 'reference', originId: 'nobody', alias: 'page' },
        tagged: {
          type: 'array',
          input: {
            $lookup: {
              source: 'cms',
              filter: "type eq 'page' and properties.tag eq 'x'",
              top: 3,
              orderBy: { property: 'size', sort: 'desc' },
            },
          },
          items: { type: 'string', value: '{item.p.title}' },
        },
      },
    }),
    entity: { type: 'fresh', url: '/fresh', properties: { handle: 'h' } },
  });
  assert.equal(status, 200, JSON.stringify(json));
  assert.deepEqual(json.view, {
    to: { $view: viewIdOf('p1') },
    away: { $view: viewIdOf('nobody') },
    tagged: ['Page 36', 'Page 32', 'Page 28'],
  });
  assert.deepEqual(json.urls, ['/fresh']);
  assert.deepEqual(json.handles, ['h']);
  assert.equal(json.lookups.length, 1);
  assert.deepEqual([json.lookups[0].matched, json.lookups[0].cut], [10, false]);
  assert.deepEqual(json.missing, [{ path: 'away', viewId: viewIdOf('nobody') }]);
  assert.deepEqual(
    json.diagnostics.map(({ kind }: { kind: string }) => kind),
    ['viewMissing'],
  );
  assert.deepEqual(await keysOfStore(), before);
});

test('preview: lookups find the previewed state of the entity, whether it is stored or published or not', async () => {
  const titles = (filter: string): JsonObject => ({
    type: 'array',
    input: { $lookup: { filter, orderBy: { property: 'originId' } } },
    items: { type: 'string', value: '{item.p.title}' },
  });
  const schema = text({
    triggers: { cms: ['page', 'draft'] },
    properties: {
      indexed: titles("type eq 'page' and properties.tag eq 'x' and properties.size gt 30"),
      planned: titles("type eq '{type}' and properties.kind eq 'own'"),
    },
  });
  const entityOf = (title: string, more: JsonObject = {}): JsonObject => ({
    type: 'page',
    properties: { title, tag: 'x', size: 31, kind: 'own' },
    ...more,
  });
  const viewOf = async (entity: JsonObject) => (await preview({ schema, ...entity })).json.view;
  assert.deepEqual(await viewOf({ entity: entityOf('New', { originId: 'p33x' }) }), {
    indexed: ['Page 32', 'New', 'Page 36'],
    planned: ['New'],
  });
  assert.deepEqual(await viewOf({ entity: entityOf('Edited', { originId: 'p36' }) }), {
    indexed: ['Page 32', 'Edited'],
    planned: ['Edited'],
  });
  const waiting = entityOf('Waiting', { publishAt: '2999-01-01T00:00Z' });
  const { headers } = await client.post('/ingest/v2/waiting', waiting, { key: sourceKey });
  const version = String(headers['x-service-version']);
  assert.equal((await client.get('/v2?handle=h1', { key: clientKey, version })).status, 200);
  assert.deepEqual(await viewOf({ originId: 'waiting' }), {
    indexed: ['Page 32', 'Page 36', 'Waiting'],
    planned: ['Waiting'],
  });
  assert.equal((await client.delete('/ingest/v2/waiting', { key: sourceKey })).status, 200);
});

test('preview: a reference to the view itself is not missing', async () => {
  const schema = text({
    ...page,
    properties: { self: { type: 'reference', originId: '{originId}', alias: 'page' } },
  });
  const body = {
    schema: { ...schema, alias: 'page' },
    entity: { originId: 'new', type: 'page', url: '/new', properties: {} },
  };
  const { json } = await preview(body);
  assert.deepEqual(
    [json.view, json.missing, json.diagnostics],
    [{ self: { $view: viewIdOf('new') } }, [], []],
  );
});

test('preview: omitted handles and options are reported', async () => {
  const handle = 'x'.repeat(handleCodePointsMax + 1);
  const options = { x: 'x'.repeat(destinationOptionsCharactersMax) };
  const { json } = await preview({
    schema: text({ ...page, destinations: [{ alias: 'search', options: { x: '{p.x}' } }] }),
    entity: { originId: 'n', type: 'page', properties: { handle, ...options } },
  });
  assert.deepEqual(json.handles, []);
  const reported = json.diagnostics.filter(({ kind }: { kind: string }) => kind === 'limitReached');
  assert.deepEqual(
    reported.map(({ place }: { place: string }) => place),
    ['$.route', '$.destinations'],
  );
});

test('preview: code is run, and its console output is returned', async () => {
  const stored = await preview({ schema: 'note', entity: { originId: 'n1', type: 'note', properties: {} } });
  assert.deepEqual([stored.json.view, stored.json.console], [{ same: 10 }, ['at n1']]);
  assert.equal(stored.json.lookups[0].matched, 10);
  const source = `export default {
  triggers(context) { context.triggers('cms', ['page']); },
  async properties({ properties }, context) {
    const found = await context.lookup("properties.size eq '7'");
    return { title: properties.title + '!', found: found.map((one) => one.originId) };
  },
};`;
  const edited = await preview({
    schema: { kind: 'full', language: 'ts', text: source, alias: 'page' },
    originId: 'p2',
  });
  assert.equal(edited.status, 200, JSON.stringify(edited.json));
  assert.equal(edited.json.view.title, 'Page 2!');
  const failing = await preview({
    schema: { kind: 'full', language: 'js', text: source.replace('properties.title +', 'nobody.x +') },
    originId: 'p2',
  });
  assert.equal(failing.json.view, null);
  assert.deepEqual(
    failing.json.diagnostics.map(({ kind }: { kind: string }) => kind),
    ['schemaFailed'],
  );
});

test('preview: a schema without properties gives no view, URL or handle, and no diagnostic', async () => {
  const code = `export default {
  triggers(context) { context.triggers('cms', ['page']); },
  routes(entity, context) { context.url('/x'); context.handle('x'); },
  actions(entity, context) { console.log('acts', entity.originId); },
};`;
  const { status, json } = await preview({
    schema: { kind: 'full', language: 'js', text: code },
    originId: 'p1',
    sourceGroup: 'cms',
    environment: 'production',
  });
  assert.equal(status, 200);
  const { milliseconds: _, ...rest } = json;
  assert.deepEqual(rest, {
    view: null,
    urls: [],
    handles: [],
    lookups: [],
    missing: [],
    diagnostics: [],
    console: ['acts p1'],
  });
});

test('preview: an unknown schema, entity or group is a 404, an invalid one a 422 with document and path', async () => {
  assert.equal((await preview({ schema: 'nobody', originId: 'p1' })).status, 404);
  assert.equal((await preview({ schema: 'index:page', originId: 'p1' })).status, 404);
  assert.equal((await preview({ schema: 'page', originId: 'nobody' })).status, 404);
  assert.equal((await preview({ schema: 'page', originId: 'p1', sourceGroup: 'nobody' })).status, 404);
  assert.equal((await preview({ schema: 'page', originId: 'p1', environment: 'nobody' })).status, 404);
  assert.equal((await preview({ schema: 'page', originId: 'p1' }, clientKey)).status, 403);
  for (const body of [
    { schema: 'page' },
    { originId: 'p1' },
    { schema: { kind: 'partial', language: 'json', text: '{}' }, originId: 'p1' },
  ]) {
    assert.equal((await preview(body)).status, 422, JSON.stringify(body));
  }
  const entity = await preview({ schema: 'page', entity: { properties: { '9': 1 } } });
  assert.equal(entity.status, 422);
  assert.ok(entity.json.errors.length >= 2, JSON.stringify(entity.json));
  const schema = await preview({
    schema: text({ ...page, properties: { title: { type: 'nothing' } } }),
    originId: 'p1',
  });
  assert.equal(schema.status, 422);
  assert.match(schema.json.errors[0], /^schemas\/preview\.full\.json: \$\.properties\.title/);
  const code = await preview({
    schema: { kind: 'full', language: 'ts', text: 'export default {' },
    originId: 'p1',
  });
  assert.equal(code.status, 422);
  assert.match(code.json.errors[0], /^schemas\/preview\.full\.ts:1:\d+: /);
});

test('preview: an inline schema is checked as if it were in its file', async () => {
  const broken = { ...text({ ...page, properties: { title: { type: 'nothing' } } }), alias: 'page' };
  const { status, json } = await preview({ schema: broken, originId: 'p1' });
  assert.equal(status, 422);
  assert.match(json.errors[0], /^schemas\/page\.json: \$\.properties\.title/);
  const edited = { kind: 'full', language: 'ts', alias: 'teaser', text: teaser.replace('title:', 'name:') };
  const entity = { type: 'teaser', properties: { title: 'A long title' } };
  const made = await preview({ schema: edited, entity, sourceGroup: 'cms' });
  assert.deepEqual([made.status, made.json.view], [200, { name: 'A lo' }]);
});

test('preview: the item of an auto-indexed type is shown, with fields that saving would add', async () => {
  const stored = await preview({ schema: 'index:cms:page', originId: 'p1' });
  assert.equal(stored.status, 200, stored.text);
  assert.deepEqual(stored.json.item, { title: 'Page 1', tag: 'y', size: 1, handle: 'h1' });
  const entity = { originId: 'p1', type: 'page', properties: { size: 'large', added: [1, 2] } };
  const { json } = await preview({ schema: 'index:cms:page', entity });
  assert.deepEqual([json.view, json.item], [null, { added: [1, 2] }]);
  assert.deepEqual(
    json.diagnostics.map(({ kind }: { kind: string }) => kind),
    ['valueDoesNotFit'],
  );
  const again = await preview({
    schema: 'index:cms:page',
    entity: { ...entity, properties: { added: 'x' } },
  });
  assert.deepEqual(again.json.item, { added: 'x' }, 'no field type was stored');
  assert.equal((await preview({ schema: 'index:nobody:page', originId: 'p1' })).status, 404);
});

test('preview: the command prints the same, for files too', async () => {
  const env = { REDIS_URL: system.redis.url, PARTITIONS: String(system.partitions) };
  const shown = await runCommand('preview', ['page', 'p1'], { env });
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /"title": "Page 1"[\s\S]*URLs:\n {2}\/p1\n {2}\/old-p1\nHandles:\n {2}h1\n/);
  const entity = path.join(folder, 'e.json');
  await writeFile(entity, JSON.stringify({ type: 'page', url: '/e', properties: { title: 'E' } }));
  const schema = path.join(folder, 'page.full.json');
  await writeFile(schema, JSON.stringify({ ...page, properties: { name: '{p.title}' } }));
  const json = await runCommand('preview', [schema, entity, '--json'], { env });
  assert.equal(json.code, 0, json.stderr);
  const { view, urls } = JSON.parse(json.stdout);
  assert.deepEqual([view, urls], [{ name: 'E' }, ['/e']]);
  const unknown = await runCommand('preview', ['nobody', 'p1'], { env });
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
  assert.match(
    unknown.stderr,
    /No schema or file is named "nobody"\. Schemas: page, note, teaser, index:pages\./,
  );
});
