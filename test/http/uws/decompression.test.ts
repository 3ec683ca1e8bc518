import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, unzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  type CompressedCoding,
  codingOf,
  compressedBytesMax,
  Decompression,
} from '../../../src/http/uws/decompression.ts';
import { Semaphore } from '../../../src/lib/semaphore.ts';
import { runs } from '../../support/runs.ts';

const compressors: readonly (readonly [CompressedCoding, (bytes: Uint8Array) => Buffer])[] = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
];

interface Decompressed {
  readonly bytes: Buffer;
  readonly isValid: boolean;
}

function decompress(
  coding: CompressedCoding,
  pieces: readonly Uint8Array[],
  turns = new Semaphore(1),
): Promise<Decompressed> {
  return new Promise((resolve) => {
    const out: Uint8Array[] = [];
    const decompression = new Decompression(coding, turns, {
      piece: (bytes) => out.push(Buffer.from(bytes)),
      end: (isValid) => resolve({ bytes: Buffer.concat(out), isValid }),
    });
    if (pieces.length === 0) decompression.push(Buffer.alloc(0), true);
    for (const [at, piece] of pieces.entries()) decompression.push(piece, at === pieces.length - 1);
  });
}

/** Splits bytes at positions given as fractions of their length. */
function cut(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const places = [
    0,
    ...shares.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b),
    bytes.length,
  ];
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end));
}

const share = fc.double({ min: 0, max: 1, noNaN: true });

test('decompression: compressed data is restored, however it was split', async () => {
  const property = fc.asyncProperty(
    fc.uint8Array({ maxLength: 3000 }),
    fc.nat(200),
    fc.array(share, { maxLength: 5 }),
    async (part, times, shares) => {
      const bytes = Buffer.concat(Array(times).fill(part));
      for (const [coding, compress] of compressors) {
        const out = await decompress(coding, cut(compress(bytes), shares));
        assert.ok(out.isValid);
        assert.ok(out.bytes.equals(bytes));
      }
    },
  );
  await fc.assert(property, { numRuns: runs(30) });
});

test('decompression: data that is truncated, changed or followed by anything is invalid', async () => {
  const property = fc.asyncProperty(
    fc.uint8Array({ minLength: 20, maxLength: 3000 }),
    share,
    async (bytes, at) => {
      for (const [coding, compress] of compressors) {
        const packed = compress(bytes);
        const place = Math.floor(at * (packed.length - 1));
        assert.equal((await decompress(coding, [packed.subarray(0, place)])).isValid, false, coding);
        for (const junk of [Buffer.from('x'), Buffer.alloc(9), Buffer.from('{"a":1}')]) {
          assert.equal((await decompress(coding, [packed, junk])).isValid, false, coding);
          assert.equal((await decompress(coding, [Buffer.concat([packed, junk])])).isValid, false, coding);
        }
        const changed = Buffer.from(packed);
        changed[place] = (changed[place] ?? 0) ^ 0xff;
        const out = await decompress(coding, [changed]);
        // Raw deflate and brotli have no checksum, and some header bytes of gzip do not affect the data.
        if (coding === 'gzip' && place >= 10) assert.equal(out.isValid, false);
      }
    },
  );
  await fc.assert(property, { numRuns: runs(30) });
  for (const [coding] of compressors) assert.equal((await decompress(coding, [])).isValid, false);
});

test('decompression: a gzip file of several members yields all of them', async () => {
  const packed = Buffer.concat([gzipSync('[1,'), gzipSync('2]')]);
  assert.equal(unzipSync(packed).toString(), '[1,2]');
  for (const pieces of [[packed], cut(packed, [0.3, 0.5, 0.6])]) {
    const { bytes, isValid } = await decompress('gzip', pieces);
    assert.deepEqual([bytes.toString(), isValid], ['[1,2]', true]);
  }
});

test('decompression: an abandoned body gets no more callbacks, and passes its turn on', async () => {
  const turns = new Semaphore(1);
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  let pieces = 0;
  const decompression = new Decompression('gzip', turns, {
    piece: () => {
      pieces += 1;
      if (pieces === 3) decompression.stop();
    },
    end: () => assert.fail('it was stopped'),
  });
  decompression.push(bomb, true);
  const other = await decompress('gzip', [gzipSync('{}')], turns);
  assert.deepEqual([other.bytes.toString(), other.isValid, pieces], ['{}', true, 3]);
});

test('decompression: a stalled body holds no turn', async () => {
  const turns = new Semaphore(1);
  const stalled = new Decompression('br', turns, { piece: () => {}, end: () => {} });
  stalled.push(brotliCompressSync('{"a":1}').subarray(0, 3), false);
  assert.equal((await decompress('br', [brotliCompressSync('{}')], turns)).isValid, true);
  stalled.stop();
});

test('decompression: a coding is recognized only by its names', () => {
  for (const [header, coding] of [
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    [' x-gzip ', 'gzip'],
    ['br', 'br'],
    ['deflate', 'deflate'],
  ] as const) {
    assert.equal(codingOf(header), coding, header);
  }
  for (const header of [
    'zstd',
    'compress',
    'gzip, br',
    'gzip, gzip',
    'identity, gzip',
    'gzip;q=1',
    '*',
    'none',
  ])
    assert.equal(codingOf(header), null, header);
});

test('decompression: incompressible data stays below the allowed bytes of a compressed body', () => {
  for (const size of [1, 100, 65_536, 200_000]) {
    const bytes = randomBytes(size);
    for (const [, compress] of compressors) assert.ok(compress(bytes).length <= compressedBytesMax(size));
    assert.ok(gzipSync(bytes, { level: 0 }).length <= compressedBytesMax(size));
  }
});
