import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/contract/json.ts';
import { runCommand, temporaryFolder } from '../../cli/support/command.ts';
import { Platform } from '../../cli/support/platform.ts';
import { isAlive } from '../../support/is-alive.ts';
import { until } from '../../support/until.ts';

const sourceKey = 'source-atlas-demo';
const environmentKey = 'environment-atlas-demo';
const managementKey = 'management-atlas-demo';

const continent = {
  originId: 'continent-XX',
  type: 'continent',
  url: '/atlantis',
  properties: { code: 'XX', name: 'Atlantis', countryIds: [] },
};

async function ingest(url: string, name = continent.properties.name): Promise<string> {
  const response = await fetch(`${url}/ingest/v2`, {
    method: 'POST',
    headers: { 'X-Api-Key': sourceKey, 'Content-Type': 'application/json' },
    body: JSON.stringify([{ ...continent, properties: { ...continent.properties, name } }]),
  });
  assert.equal(response.status, 200);
  return response.headers.get('X-Service-Version') ?? '';
}

async function deliver(url: string, version = ''): Promise<JsonObject | null> {
  const response = await fetch(`${url}/v2?url=/atlantis`, {
    headers: { 'X-Api-Key': environmentKey, ...(version !== '' && { 'X-Service-Min-Version': version }) },
  });
  assert.equal(response.status, 200);
  return JSON.parse(await response.text()).route;
}

/** The running processes, from the status endpoint. */
async function processesOf(url: string): Promise<{ readonly role: string; readonly pid: number }[]> {
  const response = await fetch(`${url}/management/v1/status`, { headers: { 'X-Api-Key': managementKey } });
  assert.equal(response.status, 200);
  return JSON.parse(await response.text()).processes;
}

async function rolesOf(url: string): Promise<string[]> {
  return (await processesOf(url)).map(({ role }) => role).sort();
}

/** All descendants of an `npm start`. Reads `/proc`, because minimal systems have no `ps`. */
function descendants(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && parentOf(entry) === pid)
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function parentOf(pid: string): number | null {
  try {
    // The name in parentheses may contain any character; the state and the parent id follow the last parenthesis.
    return Number(/.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}

test('start: ingested entities are served, also after Ctrl-C and another start', async (context) => {
  const dataDir = await temporaryFolder(context);
  const first = await Platform.start(context, { DATA_DIR: dataDir });
  await first.ready();
  assert.deepEqual(await deliver(first.url, await ingest(first.url)), {
    code: 'XX',
    name: 'Atlantis',
    url: '/atlantis',
    countries: [],
  });
  const started = descendants(first.process.pid ?? 0);
  assert.ok(started.length >= 4, 'web, worker, jobs and redis');
  assert.equal(await first.stop(), 0);
  await until('the last helper process of the compiler is gone too', () => !started.some(isAlive));

  const second = await Platform.start(context, { DATA_DIR: dataDir });
  await second.ready();
  assert.deepEqual(await deliver(second.url), {
    code: 'XX',
    name: 'Atlantis',
    url: '/atlantis',
    countries: [],
  });
  await second.stop();
});

test('start: if npm start itself is killed, no process remains, and the next start has all data, also in one process', async (context) => {
  const dataDir = await temporaryFolder(context);
  const first = await Platform.start(context, { DATA_DIR: dataDir });
  await first.ready();
  await deliver(first.url, await ingest(first.url));
  const started = descendants(first.process.pid ?? 0);
  first.process.kill('SIGKILL');
  await until('everything is gone', () => !started.some(isAlive));

  const small = await Platform.start(context, { DATA_DIR: dataDir }, [
    process.execPath,
    'src/cli/bootstrap.mjs',
    'start',
    '--small',
  ]);
  await small.ready();
  assert.ok(await deliver(small.url));
  const [pid, ...others] = new Set((await processesOf(small.url)).map(({ pid }) => pid));
  assert.ok(pid !== undefined && others.length === 0, 'all roles are one process');

  await context.test('that process has all roles, and saves, delivers and queries', async () => {
    assert.deepEqual(await rolesOf(small.url), ['jobs', 'web', 'worker']);
    const saved = await ingest(small.url, 'Mu');
    assert.deepEqual(await deliver(small.url, saved), {
      code: 'XX',
      name: 'Mu',
      url: '/atlantis',
      countries: [],
    });
    const query = await fetch(`${small.url}/v1/cities`, {
      method: 'POST',
      headers: { 'X-Api-Key': environmentKey },
      body: '{"pagination":{"pageSize":1}}',
    });
    assert.equal(query.status, 200);
    const ready: unknown = await (await fetch(`${small.url}/health/ready`)).json();
    assert.deepEqual(ready, { status: 200, waitingFor: [] });
  });

  await context.test('killed right after a save, it is restarted and has lost nothing', async () => {
    const saved = await ingest(small.url, 'Lemuria');
    process.kill(pid, 'SIGKILL');
    await until('another process serves', async () => {
      const found = await processesOf(small.url).catch(() => []);
      return found.length === 3 && found.every((one) => one.pid !== pid);
    });
    await until('its partitions have an owner', async () => {
      return (await fetch(`${small.url}/health/ready`)).status === 200;
    });
    assert.equal((await deliver(small.url, saved))?.name, 'Lemuria');
  });
  assert.equal(await small.stop(), 0);
  assert.doesNotMatch(small.output, /not finished in time/);
});

test('start: a signal sent only to npm, as by a service manager, stops everything', async (context) => {
  const platform = await Platform.start(context, {}, ['npm', 'start']);
  await platform.ready();
  const started = descendants(platform.process.pid ?? 0);
  platform.process.kill('SIGTERM');
  await platform.ended;
  await until('everything is gone', () => !started.some(isAlive));
});

test('start: a platform of two fronts serves, accepts an import and reloads its configuration', async (context) => {
  const platform = await Platform.start(context, { WEB: '2' });
  await platform.ready();

  await context.test('every new connection to the shared port is answered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        fetch(`${platform.url}/health/live`, { headers: { Connection: 'close' } }),
      ),
    );
    assert.ok(answers.every((answer) => answer.status === 200));
  });

  await context.test(
    'a file is imported into a running platform, and again without a change',
    async (part) => {
      const file = `${await temporaryFolder(part)}/places.ndjson`;
      const lines = Array.from({ length: 500 }, (_, index) =>
        JSON.stringify({
          originId: `r${index}`,
          type: 'region',
          properties: { code: `R${index}`, name: `Region ${index}` },
        }),
      );
      await writeFile(file, lines.join('\n'));
      const words = [file, '--key', sourceKey, '--url', platform.url];
      assert.match((await runCommand('import', words)).stderr, /500 changed, 0 unchanged, 0 failed/);
      assert.match((await runCommand('import', words)).stderr, /0 changed, 500 unchanged, 0 failed/);
    },
  );

  await context.test('SIGHUP reloads the configuration without a restart', async () => {
    platform.process.kill('SIGHUP');
    await until('the reload is reported', () =>
      platform.output.includes('the configuration was reloaded and is active'),
    );
  });
  await platform.stop();
});
