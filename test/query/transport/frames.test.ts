import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { FramedSocket, FrameReader } from '../../../src/query/transport/framed-socket.ts';
import { runs } from '../../support/runs.ts';
import { until } from '../../support/until.ts';

test('frames: frames are found however their stream is split', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 })),
      fc.infiniteStream(fc.integer({ min: 1, max: 60 })),
      (payloads, cuts) => {
        const stream = Buffer.concat(payloads.flatMap((payload) => [lengthOf(payload), payload]));
        const found: Uint8Array[] = [];
        const reader = new FrameReader(40, {
          frame: (bytes) => found.push(Uint8Array.from(bytes)),
          tooLarge: () => assert.fail('all are allowed'),
        });
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

test('frames: a frame that is too large is rejected by its length, and nothing is read after it', () => {
  const found: number[] = [];
  let refused = 0;
  const reader = new FrameReader(3, {
    frame: ({ length }) => found.push(length),
    tooLarge: () => {
      refused += 1;
    },
  });
  reader.take(Buffer.from([3, 0, 0, 0, 1, 2, 3, 4, 0, 0]));
  assert.deepEqual([found, refused], [[3], 0]);
  reader.take(Buffer.from([0]));
  assert.equal(refused, 1);
  reader.take(Buffer.from([1, 2, 3, 4, 1, 0, 0, 0, 9]));
  assert.deepEqual([found, refused], [[3], 1]);
});

function lengthOf(payload: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(payload.length);
  return length;
}

/** An end that has completed its handshake. */
function messagesOver(socket: Socket, onMessage: (message: unknown) => void = () => {}): FramedSocket {
  const framed = new FramedSocket(socket, 0, () => {});
  framed.readMessages(onMessage);
  return framed;
}

/** Both ends of a Unix socket. */
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

test('frames: messages are read as they were sent, also those that waited for a slow reader', async (context) => {
  const { near, far } = await socketPair(context);
  const part = fc.oneof(
    // MessagePack packs -0 as 0.
    fc.double({ noNaN: true }).map((number) => number + 0),
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.integer({ min: 0, max: 300_000 }).map((bytes) => Buffer.alloc(bytes, bytes)),
  );
  const messages = fc.sample(fc.array(part), 100);
  const sender = messagesOver(near);
  for (const message of messages) sender.send(message);
  assert.ok(near.writableLength > 0, 'the reader is not slow');
  const read: unknown[] = [];
  messagesOver(far, (message) => read.push(message));
  far.resume();
  await until('all are read', () => read.length === messages.length);
  assert.deepEqual(read, messages);
});

test('frames: invalid MessagePack closes the socket, and a closed socket sends nothing', async (context) => {
  const { near, far } = await socketPair(context);
  const read: unknown[] = [];
  const reader = messagesOver(far, (message) => read.push(message));
  far.resume();
  // A list of three that ends after its first value.
  near.write(Buffer.from([2, 0, 0, 0, 0x93, 1]));
  await once(near, 'close');
  assert.equal(reader.isOpen, false);
  reader.send('nobody reads it');
  assert.deepEqual(read, []);
});

test('frames: nothing is read after invalid MessagePack', async (context) => {
  const { near, far } = await socketPair(context);
  const read: unknown[] = [];
  messagesOver(far, (message) => read.push(message));
  far.resume();
  near.write(Buffer.from([1, 0, 0, 0, 7, 2, 0, 0, 0, 0x93, 1, 1, 0, 0, 0, 8]));
  await once(near, 'close');
  assert.deepEqual(read, [7]);
});

type Step =
  | { readonly kind: 'send'; readonly messages: number; readonly bytes: number }
  | { readonly kind: 'turn' | 'pause' | 'resume' | 'long' };
const bytes = fc.oneof(
  { weight: 6, arbitrary: fc.nat(100) },
  { weight: 2, arbitrary: fc.nat(20_000) },
  // Larger than the buffer of a socket.
  { weight: 1, arbitrary: fc.nat(1_000_000) },
);
const sending = fc.oneof(
  fc.record({ messages: fc.integer({ min: 1, max: 20 }), bytes }),
  fc.record({ messages: fc.constant(3_000), bytes: fc.nat(100) }),
);
const steps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: sending.map((sent): Step => ({ kind: 'send', ...sent })) },
    {
      weight: 3,
      arbitrary: fc.constantFrom<Step[]>(
        { kind: 'turn' },
        { kind: 'pause' },
        { kind: 'resume' },
        { kind: 'long' },
      ),
    },
  ),
  { minLength: 3, maxLength: 20 },
);

test('frames: whenever either side closes a socket, what was read is a prefix of what was sent, in order and without duplicates', async (context) => {
  const ending = fc.constantFrom('sender', 'reader', 'nobody');
  await fc.assert(
    fc.asyncProperty(steps, ending, async (given, closer) => {
      const { near, far } = await socketPair(context);
      const sender = messagesOver(near);
      const read: number[] = [];
      const reader = messagesOver(far, (message) => read.push((message as [number])[0]));
      far.resume();
      let sent = 0;
      for (const step of given) {
        if (step.kind === 'send') {
          for (let at = 0; at < step.messages; at += 1) {
            sender.send([sent, Buffer.alloc(step.bytes)]);
            sent += 1;
          }
        } else if (step.kind === 'turn') await nextTurn();
        else if (step.kind === 'pause') far.pause();
        else if (step.kind === 'resume') far.resume();
        else for (const endMs = performance.now() + 1; performance.now() < endMs; );
      }
      if (closer === 'sender') sender.close();
      if (closer === 'reader') reader.close();
      far.resume();
      if (closer === 'nobody') await until('all are read', () => read.length === sent);
      else await until('both have ended', () => near.destroyed && far.destroyed);
      assert.deepEqual(
        read,
        Array.from({ length: closer === 'nobody' ? sent : read.length }, (_, at) => at),
      );
      assert.ok(read.length <= sent);
      if (closer === 'nobody') assert.equal(near.writableLength, 0);
      near.destroy();
      far.destroy();
    }),
    { numRuns: runs(60) },
  );
});
