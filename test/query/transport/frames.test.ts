import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { FramedSocket, FrameReader } from '../../../src/query/transport/sockets.ts';
import { until } from '../../support/until.ts';

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

test('messages are read as they were sent, also those that waited for a slow reader', async (context) => {
  const { near, far } = await socketPair(context);
  const part = fc.oneof(
    // MessagePack packs -0 as 0.
    fc.double({ noNaN: true }).map((number) => number + 0),
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.integer({ min: 0, max: 300_000 }).map((bytes) => Buffer.alloc(bytes, bytes)),
  );
  const messages = fc.sample(fc.array(part), 100);
  const sender = new FramedSocket(near, () => {});
  for (const message of messages) sender.send(message);
  assert.ok(near.writableLength > 0, 'the reader is not slow');
  const read: unknown[] = [];
  new FramedSocket(far, (message) => read.push(message));
  far.resume();
  await until('all are read', () => read.length === messages.length);
  assert.deepEqual(read, messages);
});

test('what is not packed closes the socket, and a closed one takes nothing', async (context) => {
  const { near, far } = await socketPair(context);
  const read: unknown[] = [];
  const reader = new FramedSocket(far, (message) => read.push(message));
  far.resume();
  // A list of three that ends after its first value.
  near.write(Buffer.from([2, 0, 0, 0, 0x93, 1]));
  await once(near, 'close');
  assert.equal(reader.isOpen, false);
  reader.send('nobody reads it');
  assert.deepEqual(read, []);
});
