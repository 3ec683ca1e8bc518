import assert from 'node:assert/strict';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { PlatformUnavailableError, readRetryAfterMs } from '../../../src/cli/import/bulk-client.ts';
import { readLines, withoutByteOrderMarks } from '../../../src/cli/import/import-lines.ts';
import { formatSeconds, ImportClock } from '../../../src/cli/import/import-progress.ts';
import { Batch, FailureFile, Importer } from '../../../src/cli/import/importer.ts';
import { isFailure, readRecord } from '../../../src/cli/import/records.ts';
import { runs } from '../../support/runs.ts';
import { temporaryFolder } from '../support/command.ts';

const numRuns = runs(200);

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let start = 0;
  for (let turn = 0; start < bytes.length; turn += 1) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    yield bytes.subarray(start, end);
    start = end;
  }
}

test('lines: they do not depend on how the bytes are split into chunks', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '日', ' ', '\r', '\t', '"'), maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (texts, sizes) => {
        const bytes = Buffer.from(texts.join('\n'));
        const lines = await collect(readLines(cut(bytes, sizes)));
        const expected = texts
          .map((text, index) => ({ number: index + 1, text }))
          .filter(({ text }) => /[^ \t\r]/.test(text));
        assert.deepEqual(
          lines.map(({ number, bytes: own }) => ({ number, text: own.toString('utf8') })),
          expected,
        );
      },
    ),
    { numRuns },
  );
});

test('lines: a line beyond the limit is truncated, and the next one is read normally', async () => {
  const bytes = Buffer.from(`${'x'.repeat(100)}\n${'y'.repeat(10)}\n${'z'.repeat(11)}`);
  const lines = await collect(readLines(cut(bytes, [7]), 10));
  assert.deepEqual(
    lines.map(({ bytes: own, isTooLong }) => [own.toString(), isTooLong]),
    [
      ['x'.repeat(10), true],
      ['y'.repeat(10), false],
      ['z'.repeat(10), true],
    ],
  );
});

test('readRecord: bytes that are not UTF-8 and values that are not objects are failures with their position', () => {
  const read = (bytes: Buffer, isTooLong = false) => readRecord({ bytes, line: 7, column: 3, isTooLong });
  const errors = (bytes: Buffer) => {
    const failure = read(bytes);
    assert.ok(isFailure(failure));
    assert.equal(failure.line, 7);
    return failure.errors;
  };
  assert.deepEqual(errors(Buffer.from([0x22, 0xff, 0x22])), [
    'The entity is not JSON (line 7, column 4: expected UTF-8)',
  ]);
  assert.deepEqual(errors(Buffer.from('{"a":1,}')), [
    'The entity is not JSON (line 7, column 10: expected a name in double quotes)',
  ]);
  assert.deepEqual(errors(Buffer.from('{"a":1\n "b"}')), [
    'The entity is not JSON (line 8, column 2: expected `,` or `}`)',
  ]);
  assert.deepEqual(errors(Buffer.from('null')), ['The entity is not a JSON object']);
  assert.ok(isFailure(read(Buffer.from('{}'), true)));
});

test('withoutByteOrderMarks: removes them at the start of every line, however the bytes are split', async () => {
  const piece = fc.constantFrom('\ufeff', '\n', 'a', 'é');
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
      async (pieces, sizes) => {
        const text = pieces.join('');
        const found = Buffer.concat(await collect(withoutByteOrderMarks(cut(Buffer.from(text), sizes))));
        assert.equal(found.toString(), text.replace(/(^|\n)\ufeff+/g, '$1'));
      },
    ),
    { numRuns },
  );
});

test('batches: a batch has at most 50 records, at most about 8 MB, and no entity twice', () => {
  const record = (originId: string | null, size = 2) => ({ line: 1, originId, bytes: Buffer.alloc(size) });
  const full = new Batch();
  for (let index = 0; index < 50; index += 1) assert.ok(full.add(record(`e${index}`)));
  assert.equal(full.add(record('one more')), false);

  const heavy = new Batch();
  assert.ok(heavy.add(record('a', 20 * 1024 * 1024)), 'a record that is too large alone is still sent');
  assert.equal(heavy.add(record('b')), false);

  const once = new Batch();
  assert.ok(once.add(record('a')));
  assert.equal(once.add(record('a')), false);
  assert.ok(once.add(record(null)) && once.add(record(null)));
  assert.equal(once.sharesEntityWith(full), false);
  assert.equal(once.sharesEntityWith(heavy), true);
});

test('Retry-After: it is parsed as seconds and as a date', () => {
  const now = Date.parse('Fri, 31 Dec 1999 23:59:50 GMT');
  assert.equal(readRetryAfterMs('7'), 7000);
  assert.equal(readRetryAfterMs('Fri, 31 Dec 1999 23:59:59 GMT', now), 9000);
  assert.equal(readRetryAfterMs('Fri, 31 Dec 1999 23:59:00 GMT', now), 0);
  assert.equal(readRetryAfterMs('soon'), 0);
  assert.equal(readRetryAfterMs(undefined), 0);
});

test('retries: a platform that stays unavailable ends the import after the given time, with a message', async (context) => {
  const file = path.join(await temporaryFolder(context), 'failed');
  const failures = new FailureFile(file);
  const said: string[] = [];
  const importer = new Importer(
    {
      // Port 9 is the discard service, which never runs.
      baseUrl: 'http://127.0.0.1:9',
      sourceKey: 'key',
      concurrency: 2,
      retryTotalMs: 500,
      signal: new AbortController().signal,
      onSilence: (line) => said.push(line),
    },
    failures,
  );
  const input = Readable.from([Buffer.from('{"originId":"a"}\n{"originId":"b"}\n')]);
  await assert.rejects(importer.run(input), (error: unknown) => {
    assert.ok(error instanceof PlatformUnavailableError);
    assert.match(error.message, /^http:\/\/127\.0\.0\.1:9 did not accept a request/);
    return true;
  });
  failures.close();
  assert.equal(importer.done.failed, 2);
  assert.equal(said.length, 1, 'the reason is printed once');
  assert.match(said[0] ?? '', /^http:\/\/127\.0\.0\.1:9 does not respond \(.*ECONNREFUSED.*\)\. Retrying/);
});

test('retries: an interrupted import ends immediately', async (context) => {
  const failures = new FailureFile(path.join(await temporaryFolder(context), 'failed'));
  const interrupt = new AbortController();
  const importer = new Importer(
    {
      baseUrl: 'http://127.0.0.1:9',
      sourceKey: 'key',
      concurrency: 1,
      retryTotalMs: 60_000,
      signal: interrupt.signal,
    },
    failures,
  );
  const running = importer.run(Readable.from([Buffer.from('{"originId":"a"}\n')]));
  setImmediate(() => interrupt.abort(new Error('enough')));
  await assert.rejects(running, /enough/);
});

test('progress: the remaining time follows from the share that is read', () => {
  const clock = new ImportClock({ stream: Readable.from([]), totalBytes: 200, readBytes: () => 50 });
  assert.match(clock.remaining() ?? '', /^25 %, about \d+ s left$/);
  const unknown = new ImportClock({ stream: Readable.from([]), totalBytes: null, readBytes: () => 50 });
  assert.equal(unknown.remaining(), null);
  assert.deepEqual([59, 61, 3720].map(formatSeconds), ['59 s', '1 min 1 s', '1 h 2 min']);
});
