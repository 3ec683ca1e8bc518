import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, unzipSync } from 'node:zlib';
import fc from 'fast-check';
import { codingOf, type PackedCoding, packedBytesMax, Unpacking } from '../../../src/http/uws/unpacking.ts';
import { Semaphore } from '../../../src/lib/semaphore.ts';
import { runs } from '../../support/runs.ts';

const packers: readonly (readonly [PackedCoding, (bytes: Uint8Array) => Buffer])[] = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
];

interface Unpacked {
  readonly bytes: Buffer;
  readonly isSound: boolean;
}

function unpack(
  coding: PackedCoding,
  pieces: readonly Uint8Array[],
  turns = new Semaphore(1),
): Promise<Unpacked> {
  return new Promise((resolve) => {
    const out: Uint8Array[] = [];
    const unpacking = new Unpacking(coding, turns, {
      piece: (bytes) => out.push(Buffer.from(bytes)),
      end: (isSound) => resolve({ bytes: Buffer.concat(out), isSound }),
    });
    if (pieces.length === 0) unpacking.push(Buffer.alloc(0), true);
    for (const [at, piece] of pieces.entries()) unpacking.push(piece, at === pieces.length - 1);
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

test('unpacking: compressed data is restored, however it was split', async () => {
  const property = fc.asyncProperty(
    fc.uint8Array({ maxLength: 3000 }),
    fc.nat(200),
    fc.array(share, { maxLength: 5 }),
    async (part, times, shares) => {
      const bytes = Buffer.concat(Array(times).fill(part));
      for (const [coding, pack] of packers) {
        const out = await unpack(coding, cut(pack(bytes), shares));
        assert.ok(out.isSound);
        assert.ok(out.bytes.equals(bytes));
      }
    },
  );
  await fc.assert(property, { numRuns: runs(30) });
});

test('unpacking: data that is truncated, changed or followed by anything is invalid', async () => {
  const property = fc.asyncProperty(
    fc.uint8Array({ minLength: 20, maxLength: 3000 }),
    share,
    async (bytes, at) => {
      for (const [coding, pack] of packers) {
        const packed = pack(bytes);
        const place = Math.floor(at * (packed.length - 1));
        assert.equal((await unpack(coding, [packed.subarray(0, place)])).isSound, false, coding);
        for (const junk of [Buffer.from('x'), Buffer.alloc(9), Buffer.from('{"a":1}')]) {
          assert.equal((await unpack(coding, [packed, junk])).isSound, false, coding);
          assert.equal((await unpack(coding, [Buffer.concat([packed, junk])])).isSound, false, coding);
        }
        const changed = Buffer.from(packed);
        changed[place] = (changed[place] ?? 0) ^ 0xff;
        const out = await unpack(coding, [changed]);
        // Raw deflate and brotli have no checksum, and some header bytes of gzip do not affect the data.
        if (coding === 'gzip' && place >= 10) assert.equal(out.isSound, false);
      }
    },
  );
  await fc.assert(property, { numRuns: runs(30) });
  for (const [coding] of packers) assert.equal((await unpack(coding, [])).isSound, false);
});

test('unpacking: a gzip file of several members yields all of them', async () => {
  const packed = Buffer.concat([gzipSync('[1,'), gzipSync('2]')]);
  assert.equal(unzipSync(packed).toString(), '[1,2]');
  for (const pieces of [[packed], cut(packed, [0.3, 0.5, 0.6])]) {
    const { bytes, isSound } = await unpack('gzip', pieces);
    assert.deepEqual([bytes.toString(), isSound], ['[1,2]', true]);
  }
});

test('unpacking: an abandoned body gets no more callbacks, and passes its turn on', async () => {
  const turns = new Semaphore(1);
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  let pieces = 0;
  const unpacking = new Unpacking('gzip', turns, {
    piece: () => {
      pieces += 1;
      if (pieces === 3) unpacking.stop();
    },
    end: () => assert.fail('it was given up'),
  });
  unpacking.push(bomb, true);
  const other = await unpack('gzip', [gzipSync('{}')], turns);
  assert.deepEqual([other.bytes.toString(), other.isSound, pieces], ['{}', true, 3]);
});

test('unpacking: a stalled body holds no turn', async () => {
  const turns = new Semaphore(1);
  const still = new Unpacking('br', turns, { piece: () => {}, end: () => {} });
  still.push(brotliCompressSync('{"a":1}').subarray(0, 3), false);
  assert.equal((await unpack('br', [brotliCompressSync('{}')], turns)).isSound, true);
  still.stop();
});

test('unpacking: a coding is recognized only by its names', () => {
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

test('unpacking: incompressible data stays below the allowed bytes of a compressed body', () => {
  for (const size of [1, 100, 65_536, 200_000]) {
    const bytes = randomBytes(size);
    for (const [, pack] of packers) assert.ok(pack(bytes).length <= packedBytesMax(size));
    assert.ok(gzipSync(bytes, { level: 0 }).length <= packedBytesMax(size));
  }
});
