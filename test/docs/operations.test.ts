/** The files of docs/operations do what the page on deployment says: requests go through nginx, the unit runs the Procfile. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { isCommand } from '../../src/cli/commands.mjs';
import { argumentsError } from '../../src/cli/help.mjs';
import { run, temporaryFolder } from '../cli/support/command.ts';
import { Platform } from '../cli/support/platform.ts';
import { Nginx } from '../support/nginx.ts';
import { textOf } from './support/markdown.ts';

const sourceKey = 'source-atlas-demo';

const dayMs = 86_400_000;
/** Files of a backup folder, with their ages in days. */
const backups: Readonly<Record<string, number>> = {
  'millrace-1.ndjson.gz': 20,
  'millrace-2.ndjson.gz': 3,
  'notes.txt': 20,
};

/** nginx with the documented file before one front. @returns its address */
async function startNginx(context: TestContext, frontUrl: string): Promise<string> {
  const nginx = await Nginx.start((address) =>
    textOf('docs/operations/nginx.conf')
      .replace('listen 80;', `listen ${address};`)
      .replaceAll('127.0.0.1:4000', new URL(frontUrl).host),
  );
  context.after(() => nginx.stop());
  return nginx.url;
}

/** How long a front keeps an idle connection. */
async function keptMs(frontUrl: string): Promise<number> {
  const { hostname, port } = new URL(frontUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
  const requestedMs = performance.now();
  socket.resume();
  await once(socket, 'end');
  return performance.now() - requestedMs;
}

/** A body without a length, as sent by a program that is still writing it. */
function chunkedBody(text: string): ReadableStream {
  return new Blob([text]).stream();
}

test('operations: nginx accepts chunked and large bodies, rejects paths without a key, and closes idle connections first', async (context) => {
  const dataDir = await temporaryFolder(context);
  const platform = await Platform.start(context, { DATA_DIR: dataDir });
  await platform.ready();
  const kept = keptMs(platform.url);
  const url = await startNginx(context, platform.url);

  const continent = { type: 'continent', url: '/atlantis', properties: { code: 'XX', name: 'Atlantis' } };
  const chunked: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { 'X-Api-Key': sourceKey },
    body: chunkedBody(JSON.stringify(continent)),
    duplex: 'half',
  };
  assert.equal((await fetch(`${url}/ingest/v2/continent-XX`, chunked)).status, 200);

  const large = Array.from({ length: 3 }, (_, index) => ({
    originId: `note-${index}`,
    type: 'note',
    properties: { text: 'x'.repeat(2_000_000) },
  }));
  const saved = await fetch(`${url}/ingest/v2`, {
    method: 'POST',
    headers: { 'X-Api-Key': sourceKey },
    body: JSON.stringify(large),
  });
  assert.equal(saved.status, 200);

  const page = await fetch(`${url}/v2?url=/atlantis`, {
    headers: {
      'X-Api-Key': 'environment-atlas-demo',
      'X-Service-Min-Version': saved.headers.get('X-Service-Version') ?? '',
    },
  });
  assert.equal(JSON.parse(await page.text()).route.name, 'Atlantis');

  const live = await fetch(`${url}/v2?url=/atlantis`, {
    headers: { 'X-Api-Key': 'environment-atlas-demo', Accept: 'text/event-stream' },
  });
  assert.match(live.headers.get('content-type') ?? '', /event-stream/);
  const { value } = (await live.body?.getReader().read()) ?? {};
  assert.match(new TextDecoder().decode(value), /^(?:id|event|data|:)/);

  for (const inside of ['/health/live', '/health/ready', '/metrics', '/openapi.json']) {
    assert.equal((await fetch(url + inside)).status, 404, inside);
  }

  const [, seconds] = /^ *keepalive_timeout (\d+)s;/m.exec(textOf('docs/operations/nginx.conf')) ?? [];
  const front = await kept;
  assert.ok(front > Number(seconds) * 1_000 + 1_000, `a front keeps an idle connection for ${front} ms`);

  await context.test('backup.sh keeps young backups, and all files if the backup fails', async (context) => {
    const folder = await temporaryFolder(context);
    for (const [name, days] of Object.entries(backups)) {
      const file = path.join(folder, name);
      writeFileSync(file, '');
      utimesSync(file, new Date(), new Date(Date.now() - days * dayMs));
    }
    const backup = (env: Record<string, string>) =>
      run('sh', ['docs/operations/backup.sh'], { env: { BACKUP_DIR: folder, PARTITIONS: '4', ...env } });
    const failed = await backup({ REDIS_URL: 'redis://127.0.0.1:1' });
    assert.equal(failed.code, 1, failed.stdout);
    assert.deepEqual(readdirSync(folder).sort(), Object.keys(backups).sort());

    const { code, stderr } = await backup({ DATA_DIR: dataDir, KEEP_DAYS: '7' });
    assert.equal(code, 0, stderr);
    const left = readdirSync(folder).sort();
    assert.deepEqual([left[0], ...left.slice(2)], ['millrace-2.ndjson.gz', 'notes.txt']);
    assert.match(left[1] ?? '', /^millrace-\d{8}T\d{6}Z\.ndjson\.gz$/);
  });
  await platform.stop();
});

/** A line of a unit as systemd expands it. */
function asSystemdFillsIn(line: string, instance: string): string {
  const texts: Readonly<Record<string, string>> = { '%%': '%', '%i': instance, $$: '$' };
  return line.replaceAll(/%%|%i|\$\$/g, (sign) => texts[sign] ?? '');
}

test('operations: an instance of the unit runs the line of the Procfile for the role at the start of its name', async () => {
  const [, script = ''] =
    /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(textOf('docs/operations/millrace@.service')) ?? [];
  assert.match(script, /\bexec\b/);
  const procfile = new Map(
    `${textOf('Procfile')}${textOf('workers/Procfile.small')}`
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  for (const [instance, role] of Object.entries({
    web: 'web',
    'worker-2': 'worker',
    jobs: 'jobs',
    small: 'small',
  })) {
    // Prints the command instead of running it.
    const command = asSystemdFillsIn(script, instance).replace('exec', 'echo');
    const { stdout } = await run('sh', ['-c', command]);
    assert.equal(stdout.trim(), procfile.get(role));
  }
});

test('operations: the workflow for pull requests calls commands with existing options', () => {
  const lines = [
    ...textOf('docs/operations/configuration.github.yml').matchAll(/npx millrace (\w+)([^>\n]*)/g),
  ];
  assert.deepEqual(
    lines.map(([, command]) => command),
    ['check', 'apply', 'apply'],
  );
  for (const [line, command = '', words = ''] of lines) {
    assert.ok(isCommand(command), line);
    assert.equal(argumentsError(command, words.split(' ').filter(Boolean)), null, line);
  }
});
