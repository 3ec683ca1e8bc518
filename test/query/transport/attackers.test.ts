/** Unauthenticated connections to a worker get nothing, cost little, and lock no front out. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { queryHandshakeMs, queryHandshakesMax } from '../../../src/contract/limits.ts';
import { FrameReader } from '../../../src/query/transport/framed-socket.ts';
import { FrontTransport } from '../../../src/query/transport/front-transport.ts';
import { FrontHandshake, transportKey, WorkerHandshake } from '../../../src/query/transport/handshake.ts';
import type { WorkerListener } from '../../../src/query/transport/worker-listener.ts';
import { pack } from '../../../src/store/codec/pack.ts';
import { runs } from '../../support/runs.ts';
import { until } from '../../support/until.ts';
import {
  ask,
  liveWorker,
  secret,
  startFront,
  startListener,
  type Way,
  ways,
  workerId,
} from '../support/transport.ts';

const key = transportKey(secret);
const otherKey = transportKey(Buffer.alloc(32, 'another'));

interface Victim {
  readonly listener: WorkerListener;
  /** Bodies of the requests that it accepted. */
  readonly taken: unknown[];
  /** Addresses of the strangers that it reported. */
  readonly reported: string[];
}

async function startVictim(context: TestContext): Promise<Victim> {
  const taken: unknown[] = [];
  const reported: string[] = [];
  const listener = await startListener(
    context,
    (request) => {
      taken.push(request.body);
      request.reply('answer');
    },
    { onStranger: (from) => reported.push(from) },
  );
  return { listener, taken, reported };
}

/** A connection to the worker, and the frames received on it. */
async function knock(context: TestContext, { listener }: Victim, way: Way) {
  const { socketPath, tcp } = listener.addresses;
  assert.ok(socketPath !== null && tcp !== null);
  const socket = way === 'path' ? createConnection(socketPath) : createConnection(tcp);
  context.after(() => socket.destroy());
  socket.on('error', () => {});
  const frames: Buffer[] = [];
  const reader = new FrameReader(1_000, { frame: (bytes) => frames.push(bytes), tooLarge: () => {} });
  socket.on('data', (piece) => reader.take(piece));
  await once(socket, 'connect');
  return { socket, frames };
}

function frame(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(bytes.length);
  return Buffer.concat([head, bytes]);
}

async function untilClosed(socket: Socket): Promise<void> {
  await until('the worker closes the connection', () => socket.destroyed);
}

async function assertFrontsAreServed(context: TestContext, { listener }: Victim, way: Way): Promise<void> {
  const ends = { transport: startFront(context), worker: liveWorker(listener.addresses, way) };
  assert.deepEqual(await ask(ends, 'of a front', 30_000), { kind: 'answer', body: 'answer' });
}

const request = frame(pack([1, 60_000, 'of a stranger']));

for (const way of ways) {
  test(`attackers: without a handshake nothing is read and nothing is sent (${way})`, async (context) => {
    const victim = await startVictim(context);
    const oversized = Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
    const slightlyOversized = frame(Buffer.alloc(65));
    const empty = frame(Buffer.alloc(0));
    const garbage = fc.sample(fc.uint8Array({ minLength: 69, maxLength: 300 }), runs(20));
    for (const said of [
      request,
      oversized,
      slightlyOversized,
      empty,
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      ...garbage,
    ]) {
      const { socket, frames } = await knock(context, victim, way);
      socket.write(said);
      await untilClosed(socket);
      assert.deepEqual(frames, []);
    }
    await assertFrontsAreServed(context, victim, way);
    assert.deepEqual(victim.taken, ['of a front']);
    // Port scanners are not reported.
    assert.deepEqual(victim.reported, []);
  });

  test(`attackers: a connection with a wrong key is closed, and reported once (${way})`, async (context) => {
    const victim = await startVictim(context);
    for (const [theirKey, id] of [
      [otherKey, workerId],
      [key, 'another worker'],
      [otherKey, workerId],
    ] as const) {
      const { socket, frames } = await knock(context, victim, way);
      const handshake = new FrontHandshake(theirKey, id);
      socket.write(frame(handshake.hello));
      await until('the worker sends its greeting', () => frames.length === 1);
      const [reply = Buffer.alloc(0)] = frames;
      assert.equal(handshake.proofFor(reply), null);
      // The proof that the worker itself sent is useless to a stranger.
      socket.write(Buffer.concat([frame(reply.subarray(32)), request]));
      await untilClosed(socket);
      assert.equal(frames.length, 1);
    }
    await assertFrontsAreServed(context, victim, way);
    assert.deepEqual(victim.taken, ['of a front']);
    assert.equal(victim.reported.length, 1);
  });

  test(`attackers: a recorded handshake cannot be replayed (${way})`, async (context) => {
    const victim = await startVictim(context);
    const handshake = new FrontHandshake(key, workerId);
    const recorded = await knock(context, victim, way);
    recorded.socket.write(frame(handshake.hello));
    await until('the worker sends its greeting', () => recorded.frames.length === 1);
    const proof = handshake.proofFor(recorded.frames[0] ?? Buffer.alloc(0));
    assert.ok(proof !== null);
    recorded.socket.write(Buffer.concat([frame(proof), request]));
    await until('it is served', () => victim.taken.length === 1);

    const replayed = await knock(context, victim, way);
    replayed.socket.write(Buffer.concat([frame(handshake.hello), frame(proof), request]));
    await untilClosed(replayed.socket);
    assert.equal(victim.taken.length, 1);
    assert.ok(replayed.frames.length <= 1);
  });

  test(`attackers: half a frame, sent byte by byte, ends with the timeout of the handshake (${way})`, async (context) => {
    const victim = await startVictim(context);
    const silent = await knock(context, victim, way);
    const half = await knock(context, victim, way);
    half.socket.write(frame(new FrontHandshake(key, workerId).hello).subarray(0, 20));
    const slow = await knock(context, victim, way);
    const hello = frame(new FrontHandshake(key, workerId).hello);
    const startedMs = performance.now();
    for (let at = 0; !slow.socket.destroyed && at < hello.length - 1; at += 1) {
      slow.socket.write(hello.subarray(at, at + 1));
      await sleep(queryHandshakeMs / 20);
    }
    for (const { socket, frames } of [silent, half, slow]) {
      await untilClosed(socket);
      assert.deepEqual(frames, []);
    }
    assert.ok(performance.now() - startedMs < queryHandshakeMs * 4);
  });

  test(`attackers: many waiting strangers lock no front out (${way})`, async (context) => {
    const victim = await startVictim(context);
    const strangers: Socket[] = [];
    for (let count = 0; count < queryHandshakesMax + 20; count += 1) {
      strangers.push((await knock(context, victim, way)).socket);
    }
    await until('the oldest are closed', () => strangers.filter(({ destroyed }) => destroyed).length >= 20);
    await assertFrontsAreServed(context, victim, way);
  });
}

test('attackers: a front proves nothing to a process without the key, and sends it no request', async (context) => {
  const said: number[] = [];
  const server = createServer((socket) => {
    const handshake = new WorkerHandshake(otherKey, workerId);
    const reader = new FrameReader(1_000_000, {
      frame: (bytes) => {
        said.push(bytes.length);
        const reply = handshake.isGreeted ? null : handshake.replyTo(bytes);
        if (reply !== null) socket.write(frame(reply));
      },
      tooLarge: () => {},
    });
    socket.on('data', (piece) => reader.take(piece));
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const addresses = { socketPath: null, tcp: { host: '127.0.0.1', port: address.port } };
  const worker = { id: workerId, host: hostname(), addresses };
  const transport = new FrontTransport(secret);
  context.after(() => transport.close());
  transport.follow([worker]);
  assert.deepEqual(await ask({ transport, worker }, 'secret question', 60_000), {
    kind: 'lost',
    reason: 'gone',
  });
  assert.match(transport.unreachable.join(), /is not this worker, or it uses another Redis/);
  assert.deepEqual(said, [48]);
});

test('attackers: a handshake succeeds only between the same store and worker', () => {
  const sides = fc.record({
    isSameKey: fc.boolean(),
    isSameWorker: fc.boolean(),
    flip: fc.option(fc.nat(63)),
  });
  fc.assert(
    fc.property(sides, ({ isSameKey, isSameWorker, flip }) => {
      const front = new FrontHandshake(isSameKey ? key : otherKey, isSameWorker ? workerId : 'other');
      const worker = new WorkerHandshake(key, workerId);
      const reply = worker.replyTo(front.hello);
      assert.ok(reply !== null);
      if (flip !== null) reply[flip] = (reply[flip] ?? 0) ^ 1;
      const proof = front.proofFor(reply);
      const isSound = isSameKey && isSameWorker && flip === null;
      assert.equal(proof !== null, isSound);
      assert.equal(proof !== null && worker.isProven(proof), isSound);
    }),
  );
});
