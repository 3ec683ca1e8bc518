import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { PlacedTexts, TextPlaces, textLengthMax, textsMax } from '../../../src/query/protocol/ask-texts.ts';
import { FrameBuffer, FrameCursor } from '../../../src/query/protocol/frame-buffer.ts';
import { FrameReader } from '../../../src/query/protocol/frames.ts';

test('frames are found however their stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 })),
      fc.infiniteStream(fc.integer({ min: 1, max: 60 })),
      (payloads, cuts) => {
        const stream = Buffer.concat(payloads.flatMap((payload) => [lengthOf(payload), payload]));
        const found: Uint8Array[] = [];
        const reader = new FrameReader((bytes) => found.push(Uint8Array.from(bytes)));
        for (let at = 0; at < stream.length; ) {
          const end = at + (cuts.next().value ?? 1);
          reader.take(stream.subarray(at, end));
          at = end;
        }
        assert.deepEqual(found, payloads);
      },
    ),
  );
});

function lengthOf(payload: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(payload.length);
  return length;
}

/** Two ends of a socket of the file system. */
async function socketPair(context: TestContext): Promise<{ near: Socket; far: Socket }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'frames-'));
  const server = createServer({ pauseOnConnect: true }).listen(path.join(folder, 'socket'));
  await once(server, 'listening');
  const near = createConnection(path.join(folder, 'socket'));
  const [far] = (await once(server, 'connection')) as [Socket];
  context.after(async () => {
    near.destroy();
    far.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });
  return { near, far };
}

type Part = number | string | Uint8Array;

function write(frame: FrameBuffer, part: Part): void {
  if (typeof part === 'number') frame.writeNumber(part);
  else if (typeof part === 'string') frame.writeText(part);
  else frame.writeBytes(part);
}

function readLike(frame: FrameCursor, part: Part): Part {
  if (typeof part === 'number') return frame.readNumber();
  return typeof part === 'string' ? frame.readText() : Uint8Array.from(frame.readBytes());
}

test('frames are read as they were written, also those that waited for a slow reader', async (context) => {
  const { near, far } = await socketPair(context);
  const frame = new FrameBuffer();
  const parts = fc.oneof(
    fc.double({ noNaN: true }),
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array({ maxLength: 200 }),
    fc.integer({ min: 0, max: 300_000 }).map((bytes) => new Uint8Array(bytes).fill(bytes)),
  );
  const frames: Part[][] = fc.sample(fc.array(parts, { minLength: 1 }), 50);
  for (const written of frames) {
    for (const part of written) write(frame, part);
    frame.send(near);
  }
  assert.ok(near.writableLength > 0, 'the reader is not slow');
  const left = [...frames];
  const reader = new FrameReader((bytes) => {
    const cursor = new FrameCursor(bytes);
    const written = left.shift() ?? [];
    assert.deepEqual(
      written.map((part) => readLike(cursor, part)),
      written,
    );
    assert.ok(cursor.isAtEnd);
  });
  far.on('data', (piece) => reader.take(piece));
  far.resume();
  near.end();
  await once(far, 'end');
  assert.equal(left.length, 0);
});

test('a frame that ends too early is no frame', () => {
  const cut = () => new FrameCursor(Buffer.from([9, 0]));
  assert.throws(() => cut().readWord(), RangeError);
  assert.throws(() => cut().readNumber(), RangeError);
  const short = () => new FrameCursor(Buffer.from([9, 0, 0, 0, 65]));
  assert.throws(() => short().readText(), RangeError);
  assert.throws(() => short().readBytes(), RangeError);
});

test('texts that are sent again travel as places, and arrive as they were sent', () => {
  const numbers = fc.array(fc.nat(textsMax + 300), { minLength: 2000, maxLength: 4000 });
  fc.assert(
    fc.property(numbers, (sequence) => {
      const places = new TextPlaces();
      const texts = new PlacedTexts();
      const held: string[] = [];
      for (const number of sequence) {
        const text = `text ${number}`;
        const sent = places.send(text);
        assert.equal(sent.text, held.includes(text) ? '' : text);
        assert.ok(sent.place < textsMax);
        assert.equal(texts.receive(sent), text);
        if (sent.text !== '') held.push(text);
        if (held.length > textsMax) held.shift();
      }
    }),
    { numRuns: 20 },
  );
});

test('a text that is too long has no place, and a place that nobody told of no text', () => {
  const long = 'x'.repeat(textLengthMax + 1);
  const places = new TextPlaces();
  const texts = new PlacedTexts();
  for (let times = 0; times < 2; times += 1) {
    const sent = places.send(long);
    assert.equal(sent.text, long);
    assert.equal(texts.receive(sent), long);
  }
  assert.throws(() => texts.receive({ place: textsMax, text: '' }), RangeError);
  assert.throws(() => texts.receive({ place: 0, text: '' }), RangeError);
});
