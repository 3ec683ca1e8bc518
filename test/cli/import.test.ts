import assert from 'node:assert/strict';
import { appendFileSync, existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../src/contract/json.ts';
import { startFront } from '../http/support/front.ts';
import { apiKeys } from '../http/support/site.ts';
import { runCommand, temporaryFolder } from './support/command.ts';
import { type IngestServerOptions, startIngestServer } from './support/ingest-server.ts';

const key = 'source-test';

async function server(context: TestContext, options?: IngestServerOptions) {
  const started = await startIngestServer(options);
  context.after(() => started.close());
  return started;
}

async function ndjson(
  context: TestContext,
  lines: readonly string[],
  name = 'entities.ndjson',
): Promise<string> {
  const file = path.join(await temporaryFolder(context), name);
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  await writeFile(file, name.endsWith('.gz') ? gzipSync(bytes) : bytes);
  return file;
}

function entity(originId: string, properties: JsonObject = {}, type = 'page'): string {
  return JSON.stringify({ originId, type, properties });
}

function entities(count: number): string[] {
  return Array.from({ length: count }, (_, index) => entity(`e${index}`, { index }));
}

async function failures(file: string): Promise<JsonObject[]> {
  const text = await readFile(`${file}.failed.ndjson`, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

test('import: every entity is sent once, at most 50 a request, with a Content-Length', async (context) => {
  const platform = await server(context);
  const file = await ndjson(context, entities(1234));
  const result = await runCommand('import', [file, '--key', key, '--url', platform.url]);
  assert.equal(result.code, 0, result.stderr);
  assert.equal(platform.accepted.length, 1234);
  assert.equal(platform.history.size, 1234);
  assert.ok(
    platform.requests.every((request) => request.entities <= 50 && request.contentLength !== undefined),
  );
  assert.match(
    result.stderr,
    /1,234 entities in [\d.]+ s \([\d,]+ entities\/s\): 1,234 changed, 0 unchanged, 0 failed/,
  );
  assert.equal(existsSync(`${file}.failed.ndjson`), false);
});

test('import: requests to another machine are compressed, those to this one are not', async (context) => {
  const lines = entities(120);
  for (const [host, coding] of [
    ['127.0.0.1', undefined],
    ['localhost', undefined],
    // It resolves to this machine, but does not look like it.
    ['[::ffff:127.0.0.1]', 'gzip'],
  ] as const) {
    const platform = await server(context);
    const file = await ndjson(context, lines);
    const url = platform.url.replace('127.0.0.1', host);
    const result = await runCommand('import', [file, '--key', key, '--url', url]);
    assert.equal(result.code, 0, result.stderr);
    assert.equal(platform.history.size, 120);
    assert.deepEqual(new Set(platform.requests.map((request) => request.coding)), new Set([coding]), host);
  }
});

test('import: a platform on another machine accepts the compressed import', async (context) => {
  const front = await startFront();
  context.after(() => front.stop());
  const file = await ndjson(context, entities(120));
  const url = `http://[::ffff:127.0.0.1]:${front.port}`;
  const result = await runCommand('import', [file, '--key', apiKeys.source, '--url', url]);
  assert.equal(result.code, 0, result.stderr);
  assert.match(result.stderr, /120 changed, 0 unchanged, 0 failed/);
});

test('import: repeating the same import finds everything unchanged', async (context) => {
  const platform = await server(context);
  const file = await ndjson(context, entities(120));
  await runCommand('import', [file, '--key', key, '--url', platform.url]);
  const again = await runCommand('import', [file, '--key', key, '--url', platform.url]);
  assert.equal(again.code, 0);
  assert.match(again.stderr, /0 changed, 120 unchanged, 0 failed/);
});

test('import: a gzipped file and standard input are read like a plain file', async (context) => {
  const platform = await server(context);
  const file = await ndjson(context, entities(130), 'entities.ndjson.gz');
  assert.equal((await runCommand('import', [file, '--key', key, '--url', platform.url])).code, 0);
  const lines = entities(200).map((line) => `${line}\r\n`);
  const piped = await runCommand('import', ['-', '--key', key, '--url', platform.url], {
    stdin: Readable.from(lines),
  });
  assert.match(piped.stderr, /70 changed, 130 unchanged, 0 failed/);
});

test('import: the bytes of the line are sent, to the last digit', async (context) => {
  const platform = await server(context);
  const line =
    '{"originId":"big","type":"page","properties":{"n":123456789012345678901234567890,"é":"\\u00e9"}}';
  const file = await ndjson(context, [line]);
  const result = await runCommand('import', [file, '--key', key, '--url', platform.url]);
  assert.equal(result.code, 0);
  assert.equal(platform.requests[0]?.contentLength, String(Buffer.byteLength(line) + 2));
});

test('import: a failed entity is recorded with its original digits', async (context) => {
  const platform = await server(context);
  const file = path.join(await temporaryFolder(context), 'entities.json');
  await writeFile(file, '[{"originId":"big","type":"wrong",\n"properties":{"n":9007199254740993}}]');
  const result = await runCommand('import', [file, '--key', key, '--url', platform.url]);
  assert.equal(result.code, 1, result.stderr);
  const text = await readFile(`${file}.failed.ndjson`, 'utf8');
  assert.match(
    text,
    /"entity":\{"originId":"big","type":"wrong", "properties":\{"n":9007199254740993\}\}\}\n$/,
  );
});

test('import: busy responses, broken connections and internal errors are retried', async (context) => {
  const disturbances = [
    'busy',
    'hangUp',
    null,
    'hangUpAfterAccepting',
    'internalError',
    null,
    'busy',
  ] as const;
  const platform = await server(context, {
    disturb: (request) => disturbances[request % disturbances.length] ?? null,
  });
  const file = await ndjson(context, entities(900));
  const result = await runCommand('import', [
    file,
    '--key',
    key,
    '--url',
    platform.url,
    '--concurrency',
    '3',
  ]);
  assert.equal(result.code, 0, result.stderr);
  assert.equal(platform.history.size, 900);
  assert.match(result.stderr, /900 entities .* 0 failed/);
});

test('import: several requests are in flight, and never more than configured', async (context) => {
  const platform = await server(context, { delayMs: () => 20 });
  const file = await ndjson(context, entities(1000));
  await runCommand('import', [file, '--key', key, '--url', platform.url, '--concurrency', '3']);
  assert.equal(platform.mostAtOnce, 3);
});

test('import: the states of one entity arrive in the order of the file, whatever is retried or slow', async (context) => {
  const platform = await server(context, {
    disturb: (request) => (request % 3 === 0 ? 'busy' : null),
    delayMs: (request) => (request * 7) % 20,
  });
  const lines = Array.from({ length: 600 }, (_, index) => entity(`e${index % 97}`, { state: index }));
  const file = await ndjson(context, [
    ...lines,
    entity('twice', { state: 1 }),
    entity('twice', { state: 2 }),
  ]);
  const result = await runCommand('import', [
    file,
    '--key',
    key,
    '--url',
    platform.url,
    '--concurrency',
    '8',
  ]);
  assert.equal(result.code, 0, result.stderr);
  for (const states of platform.history.values()) {
    const order = states.map((state) => Number(JSON.parse(JSON.stringify(state)).properties.state));
    assert.deepEqual(
      order,
      [...order].sort((left, right) => left - right),
    );
  }
  assert.equal(platform.history.get('twice')?.length, 2);
});

test('import: invalid lines and refused entities are recorded with their errors and stop nothing', async (context) => {
  const platform = await server(context);
  const file = await ndjson(context, [
    entity('good'),
    '{"broken":',
    '[1,2]',
    '',
    '{"type":"page","properties":{}}',
    entity('refused', {}, 'wrong'),
    entity('__proto__', {}, 'wrong'),
    entity('also good'),
    '{"originId":"broken within","type":,"properties":{}}',
  ]);
  const result = await runCommand('import', [file, '--key', key, '--url', platform.url]);
  assert.equal(result.code, 1);
  assert.match(result.stderr, /8 entities .* 2 changed, 0 unchanged, 6 failed/);
  const failed = (await failures(file)).sort((left, right) => Number(left.line) - Number(right.line));
  assert.deepEqual(
    failed.map(({ line, originId }) => [line, originId]),
    [
      [2, null],
      [3, null],
      [5, null],
      [6, 'refused'],
      [7, '__proto__'],
      [9, null],
    ],
  );
  assert.equal(failed[0]?.entity, '{"broken":');
  assert.deepEqual(failed[5]?.errors, ['The entity is not JSON (line 9, column 36: expected a value)']);
  assert.deepEqual(failed[3]?.errors, ['type is wrong', 'and again']);
  assert.deepEqual(failed[3]?.entity, { originId: 'refused', type: 'wrong', properties: {} });
});

test('import: a request refused as a whole is split in halves until only the cause fails', async (context) => {
  const platform = await server(context, { bodyBytesMax: 4000 });
  const file = await ndjson(context, [
    ...entities(70),
    entity('huge', { text: 'x'.repeat(5000) }),
    ...entities(75),
  ]);
  const result = await runCommand('import', [file, '--key', key, '--url', platform.url]);
  assert.equal(result.code, 1);
  assert.equal(platform.history.size, 75);
  const [failed, ...more] = await failures(file);
  assert.equal(more.length, 0);
  assert.equal(failed?.originId, 'huge');
  assert.deepEqual(failed?.errors, ['The body is too large']);
});

test('import: a wrong key ends the import immediately with one line, even while its input is open', async (context) => {
  const platform = await server(context);
  for (const [wrong, expected] of [
    ['source-other', /Unknown API key \(401\)/],
    ['no-rights', /cannot ingest \(403\)/],
  ] as const) {
    const words = ['-', '--key', wrong, '--url', platform.url];
    const stdin = new PassThrough();
    for (const line of entities(120)) stdin.write(`${line}\n`);
    const result = await runCommand('import', words, { stdin });
    assert.equal(result.code, 1);
    assert.match(result.stderr, expected);
  }
  assert.equal(platform.accepted.length, 0);
});

test('import: the first failed line is reported with its errors, even if it is answered after others', async (context) => {
  const platform = await server(context);
  const file = await ndjson(context, [entity('refused', {}, 'wrong'), 'no JSON', entity('good')]);
  const { code, stderr } = await runCommand('import', [file, '--key', key, '--url', platform.url]);
  assert.equal(code, 1);
  assert.ok(
    stderr.endsWith(`are in ${file}.failed.ndjson\nThe first is line 1: type is wrong; and again\n`),
    stderr,
  );
});

test('import: a file for failed lines that cannot be written is reported in one line', async (context) => {
  const platform = await server(context);
  const file = await ndjson(context, entities(3));
  await mkdir(`${file}.failed.ndjson`);
  const { code, stderr } = await runCommand('import', [file, '--key', key, '--url', platform.url]);
  assert.equal(code, 1);
  assert.match(stderr, /^A file cannot be read or written: .*entities\.ndjson\.failed\.ndjson.*\n$/);
  assert.equal(platform.accepted.length, 0);
});

test('import --prune: nothing is deleted by a file without entities', async (context) => {
  const platform = await server(context);
  for (const [name, lines] of [
    ['entities.ndjson', []],
    ['entities.json', ['[]']],
    ['entities.csv', []],
    ['entities.csv', ['originId,type,title']],
  ] as const) {
    const file = await ndjson(context, lines, name);
    for (const words of [['--yes'], []]) {
      const { code, stderr } = await runCommand('import', [
        ...[file, '--key', key, '--url', platform.url, '--prune'],
        ...words,
      ]);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /contains no entities, so nothing was deleted\. To delete all/);
    }
  }
});

test('import --prune: nothing is deleted if the file changes during the import', async (context) => {
  const platform = await server(context);
  const file = await ndjson(context, entities(100));
  const growing = setInterval(() => appendFileSync(file, `${entity('late')}\n`), 20);
  const words = [file, '--key', key, '--url', platform.url, '--prune', '--yes'];
  // Not a hook, because the hook that removes the file would run first.
  const { code, stderr } = await runCommand('import', words).finally(() => clearInterval(growing));
  assert.equal(code, 1, stderr);
  assert.match(stderr, /changed during the import, so nothing was deleted\. Run this again/);
});

test('import: a file that is gzip only by name is reported as such', async (context) => {
  const plain = await ndjson(context, entities(2));
  const file = `${plain}.gz`;
  await copyFile(plain, file);
  const { code, stderr } = await runCommand('import', [file, '--key', key, '--url', 'http://127.0.0.1:9']);
  assert.equal(code, 1);
  assert.ok(
    stderr.includes(`${file} is a truncated or corrupt gzip file: incorrect header check.\n`),
    stderr,
  );
});

test('import: invalid arguments are reported in one line', async (context) => {
  const file = await ndjson(context, []);
  for (const [words, expected] of [
    [[], /Missing FILE/],
    [[file], /--key of the source is missing/],
    [[file, '--key', 'schlüssel'], /^--key contains characters that no API key has/],
    [[file, '--key', key, '--url', 'ftp://x'], /--url must be an address/],
    [
      [file, '--key', key, '--url', 'http://x:4000/ingest/v2'],
      /^--url must be only the address, without '\/ingest\/v2': http:\/\/x:4000$/m,
    ],
    [[file, '--key', key, '--concurrency', '0'], /--concurrency must be a whole number/],
    [[file, '--key', key, '--format', 'xml'], /^--format must be one of ndjson, json, csv, not 'xml'/],
    [[file, '--key', key, '--type', 'page'], /^--type is for CSV/],
    [[file, '--key', key, '--format', 'csv', '--map', 'id=originId'], /^--map must be pairs/],
    [[file, '--key', key, '--quick'], /Unknown option '--quick'/],
    [[`${file}.missing`, '--key', key], /cannot be read: ENOENT/],
  ] as const) {
    const result = await runCommand('import', [...words]);
    assert.equal(result.code, 1);
    assert.match(result.stderr, expected);
    assert.equal(result.stderr.trim().split('\n').length, 1, result.stderr);
  }
  const help = await runCommand('import', ['--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /npm run import -- FILE --key SOURCE_KEY/);
});
