import assert from 'node:assert/strict';
import { createReadStream, existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import type { Json } from '../../../src/contract/json.ts';
import { readPartitionStates, waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { catalogue, catalogueFiles } from '../support/data/debian.ts';
import { SystemProcess } from '../support/processes/process.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, environmentId, sourceId, sourceKey } from '../support/site.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const viewsPerRequest = 500;
const size = { sections: 20, maintainers: 100, sources: 350, packages: 500 };

let system: System;
let client: Client;
let entities: SourceEntity[];
let file: string;

before(async () => {
  system = await sharedPlatform(catalogueFiles(['acme', 'beta', 'real']));
  client = system.client('web.2');
  entities = catalogue(Random.forTest('import'), size);
  file = path.join(system.scratchDir, 'catalogue.ndjson');
  await writeFile(file, entities.map((entity) => `${JSON.stringify(entity)}\n`).join(''));
});

/** The real command, as `npm run import` starts it. */
function importing(source: string, tenant: string, options: readonly string[] = []): SystemProcess {
  const words = [
    'src/cli/bootstrap.mjs',
    'import',
    source,
    '--key',
    `${tenant}-${sourceKey}`,
    '--url',
    system.url(),
    ...options,
  ];
  const command = new SystemProcess('import', () => ({
    program: process.execPath,
    words: words.map((word) => (word.startsWith('src/') ? path.join(root, word) : word)),
    env: system.environment(),
  }));
  command.start();
  return command;
}

async function imported(source: string, tenant: string, options: readonly string[] = []): Promise<string> {
  const command = importing(source, tenant, options);
  const { code } = await command.ended();
  assert.equal(code, 0, command.output);
  return command.output;
}

function wholeView({ originId, type, url, originParentId, redirects, properties }: SourceEntity): Json {
  return { originId, type, url, originParentId, redirects: [...redirects], properties };
}

async function checkAll(all: readonly SourceEntity[], tenant: string): Promise<void> {
  const key = `${tenant}-${clientKey}`;
  for (let at = 0; at < all.length; at += viewsPerRequest) {
    const portion = all.slice(at, at + viewsPerRequest);
    const ids = portion.map(({ originId }) => viewId(originId, 'whole'));
    const { json } = await client.post('/v2', { ids }, { key });
    for (const entity of portion) {
      assert.deepEqual(json.views[viewId(entity.originId, 'whole')], wholeView(entity));
    }
  }
}

/** A count, as commands print it. */
function shown(count: number): string {
  return count.toLocaleString('en-US');
}

function viewId(originId: string, alias: string): string {
  return formatViewId({ environmentId, sourceId, originId, alias });
}

test('import: the command imports a file, and every view matches its line', async () => {
  assert.match(
    await imported(file, 'acme'),
    new RegExp(`${shown(entities.length)} changed, 0 unchanged, 0 failed`),
  );
  await waitUntilSettled(await system.store());
  await checkAll(entities, 'acme');
});

test('import: pages show related entities, whatever the order of the lines', async () => {
  const key = `acme-${clientKey}`;
  const packages = entities.filter(({ type }) => type === 'package');
  const maintainers = entities.filter(({ type }) => type === 'maintainer').slice(0, 200);
  const largest = new Map<string, string[]>();
  const bySize = [...packages].sort(
    (a, b) =>
      Number(b.properties.installedSize) - Number(a.properties.installedSize) ||
      (a.originId < b.originId ? -1 : 1),
  );
  for (const { properties } of bySize) {
    const maintainer = String(properties.maintainerId);
    largest.set(maintainer, [...(largest.get(maintainer) ?? []), String(properties.name)].slice(0, 5));
  }
  const { json } = await client.post(
    '/v2',
    { handles: maintainers.map(({ originId }) => originId) },
    { key },
  );
  for (const { originId, properties } of maintainers) {
    const expected = { name: properties.name, maintainer: null, largest: largest.get(originId) ?? [] };
    assert.deepEqual(json.views[originId], expected);
  }
  const [some] = packages;
  assert.ok(some);
  const { json: page } = await client.get(`/v2?handle=${encodeURIComponent(some.originId)}`, { key });
  const maintainer = entities.find(({ originId }) => originId === some.properties.maintainerId);
  assert.equal(page.views[some.originId].maintainer.name, maintainer?.properties.name);
});

test('import: the same file again is entirely unchanged and causes no work', async () => {
  const store = await system.store();
  const before_ = (await readPartitionStates(store)).map(({ end, commits }) => ({ end, commits }));
  assert.match(
    await imported(file, 'acme'),
    new RegExp(`0 changed, ${shown(entities.length)} unchanged, 0 failed`),
  );
  const after_ = (await readPartitionStates(store)).map(({ end, commits }) => ({ end, commits }));
  assert.deepEqual(after_, before_, 'no stream has a new entry and no partition a new commit');
});

test('import: a killed import can simply be run again', async () => {
  const store = await system.store();
  const beforeEnds = (await readPartitionStates(store)).reduce((sum, { end }) => sum + end, 0);
  const first = importing(file, 'beta');
  await until('part of the file is imported', async () => {
    const ends = (await readPartitionStates(store)).reduce((sum, { end }) => sum + end, 0);
    return ends > beforeEnds + 30;
  });
  await first.signal('SIGKILL');
  const output = await imported(file, 'beta');
  const [, changed, unchanged] = /([\d,]+) changed, ([\d,]+) unchanged, 0 failed/.exec(output) ?? [];
  const count = (text = '') => Number(text.replaceAll(',', ''));
  assert.equal(count(changed) + count(unchanged), entities.length, output);
  assert.ok(count(unchanged) > 0, output);
  await waitUntilSettled(store);
  await checkAll(entities, 'beta');
});

test('import: a JSON array and joined files with byte order marks have the same entities as the lines', async () => {
  const array = path.join(system.scratchDir, 'catalogue.json');
  await writeFile(array, `\ufeff${JSON.stringify(entities, null, 1)}\n`);
  const all = new RegExp(`0 changed, ${shown(entities.length)} unchanged, 0 failed`);
  assert.match(await imported(array, 'acme'), all);
  const joined = path.join(system.scratchDir, 'joined.ndjson');
  const half = entities.length >> 1;
  const file = (some: readonly SourceEntity[]) =>
    `\ufeff${some.map((entity) => `${JSON.stringify(entity)}\n`).join('')}`;
  await writeFile(joined, file(entities.slice(0, half)) + file(entities.slice(half)));
  assert.match(await imported(joined, 'acme'), all);
});

test('import: rows of CSV become entities, and numbers keep their digits', async () => {
  const csv = path.join(system.scratchDir, 'rows.csv');
  const text =
    'id,slug,name,author.name,author.born,big\n' +
    'row-1,/rows/1,"Ada, ""first""",Ada,1815,9007199254740993\nrow-2,,Bé,,,\n';
  await writeFile(csv, text);
  await imported(csv, 'beta', ['--map', 'originId=id,url=slug', '--type', 'section']);
  await waitUntilSettled(await system.store());
  const ids = ['row-1', 'row-2'].map((originId) => viewId(originId, 'whole'));
  const { json } = await client.post('/v2', { ids }, { key: `beta-${clientKey}` });
  const [first, second] = ids.map((id) => json.views[id]);
  assert.equal(first.url, '/rows/1');
  assert.deepEqual(first.properties, {
    name: 'Ada, "first"',
    author: { name: 'Ada', born: '1815' },
    big: '9007199254740993',
  });
  assert.equal(second.url, null);
  assert.deepEqual(second.properties, { name: 'Bé', author: { name: '', born: '' }, big: '' });
});

test('import: a number in a JSON array that cannot be represented exactly is rejected', async () => {
  const array = path.join(system.scratchDir, 'big.json');
  await writeFile(array, '[{"originId": "big", "type": "section", "properties": {"n": 9007199254740993}}]');
  const command = importing(array, 'beta');
  const { code } = await command.ended();
  assert.equal(code, 1, command.output);
  assert.match(command.output, /The first is line 1: .*9007199254740993.*Send it as a string/);
});

/** All originIds of a source, listed with its own key. */
async function listed(tenant: string, type?: string): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const query = new URLSearchParams({ first: '500', ...(type && { type }), ...(after && { after }) });
    const { json } = await client.get(`/ingest/entities?${query}`, { key: `${tenant}-${sourceKey}` });
    found.push(...json.originIds);
    after = json.next;
  }
  return found;
}

test('import --prune: entities missing from the file are deleted, of all types or of the named ones', async () => {
  const dropped = [
    ...entities.filter(({ type }) => type === 'package').slice(0, 3),
    ...entities.filter(({ type }) => type === 'section').slice(0, 1),
  ];
  const kept = entities.filter((entity) => !dropped.includes(entity));
  const shorter = path.join(system.scratchDir, 'shorter.ndjson');
  const textOf = (some: readonly SourceEntity[]) =>
    some.map((entity) => `${JSON.stringify(entity)}\n`).join('');
  await writeFile(shorter, textOf(kept));
  await waitUntilSettled(await system.store());
  const before = await listed('beta');
  const idsOf = (some: readonly SourceEntity[]) => some.map(({ originId }) => originId);
  assert.deepEqual(before, [...idsOf(entities), 'row-1', 'row-2'].sort());

  const asking = importing(shorter, 'beta', ['--prune']);
  assert.equal((await asking.ended()).code, 1);
  assert.match(asking.output, /The source has 6 entities that .*shorter\.ndjson does not have: .*row-1/);
  assert.match(asking.output, /Nothing was changed\. To confirm, run this again with --yes/);
  assert.doesNotMatch(asking.output, /unchanged/, 'nothing was imported');

  const broken = path.join(system.scratchDir, 'broken.ndjson');
  await writeFile(broken, `${textOf(kept.slice(0, 5))}{"originId":\n`);
  const failing = importing(broken, 'beta', ['--prune', '--yes']);
  assert.equal((await failing.ended()).code, 1);
  assert.match(failing.output, /Nothing was deleted, because the import has failures\./);
  assert.deepEqual(await listed('beta'), before);

  const packages = await imported(shorter, 'beta', ['--prune', '--type', 'package', '--yes']);
  assert.match(packages, /0 changed, [\d,]+ unchanged/);
  assert.match(packages, /The source has 3 entities of the types package that/);
  assert.match(packages, /3 entities deleted/);
  await waitUntilSettled(await system.store());
  assert.deepEqual(
    await listed('beta'),
    before.filter((id) => !idsOf(dropped.slice(0, 3)).includes(id)),
  );
  const { json } = await client.post(
    '/v2',
    { ids: dropped.map(({ originId }) => viewId(originId, 'whole')) },
    { key: `beta-${clientKey}` },
  );
  assert.deepEqual(Object.keys(json.views), [viewId(dropped[3]?.originId ?? '', 'whole')]);

  const types = ['--type', 'package', '--type', 'maintainer'];
  assert.match(await imported(shorter, 'beta', ['--prune', ...types, '--yes']), /0 entities deleted/);
  assert.match(await imported(shorter, 'beta', ['--prune', '--yes']), /3 entities deleted/);
  await waitUntilSettled(await system.store());
  assert.deepEqual(await listed('beta'), idsOf(kept).sort());
  assert.deepEqual(await listed('beta', 'no such type'), []);

  // The list is current: it already reflects what the previous import has deleted.
  await writeFile(broken, textOf(kept.slice(0, 1)));
  assert.match(
    await imported(broken, 'beta', ['--prune', '--yes']),
    new RegExp(`${shown(kept.length - 1)} entities deleted`),
  );

  const piped = importing('-', 'beta', ['--prune']);
  assert.equal((await piped.ended()).code, 1);
  assert.match(piped.output, /With standard input, add --yes\./);
});

const realFiles = ['debian-small.ndjson.gz', 'cities.ndjson.gz'].map((name) =>
  path.join(root, '../shared/data', name),
);
const withRealFiles = process.env.MILLRACE_DATA === '1' && realFiles.every((name) => existsSync(name));

for (const real of withRealFiles ? realFiles : []) {
  test(`import: ${path.basename(real)} is imported, and again without a change`, async () => {
    const store = await system.store();
    const all: SourceEntity[] = [];
    for await (const line of createInterface({ input: createReadStream(real).pipe(createGunzip()) })) {
      if (line.trim() !== '') all.push(JSON.parse(line) as SourceEntity);
    }
    await imported(real, 'real');
    await waitUntilSettled(store);
    await checkAll(all, 'real');
    const ends = (await readPartitionStates(store)).map(({ end }) => end);
    await imported(real, 'real');
    assert.deepEqual(
      (await readPartitionStates(store)).map(({ end }) => end),
      ends,
    );
  });
}
