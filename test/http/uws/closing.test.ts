/** A closing server: requests on open connections get a response, with `Connection: close`. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { lingerMs } from '../../../src/contract/limits.ts';
import { until } from '../../support/until.ts';
import { type FrontOptions, startFront, type TestFront, whole } from '../support/front.ts';
import { pause } from '../support/wire.ts';

const requestFor = (path: string, method: string) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

async function frontOf(context: TestContext, options?: FrontOptions): Promise<TestFront> {
  const front = await startFront(options);
  context.after(() => front.stop());
  return front;
}

/** A connection that has been used, and is kept alive. */
class IdleConnection {
  text = '';
  isClosed = false;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.text += text;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  static async open(front: TestFront): Promise<IdleConnection> {
    const connection = await IdleConnection.begin(front);
    await connection.ask('/health/live');
    assert.match(connection.text, /^HTTP\/1\.1 200/);
    return connection;
  }

  /** Connected by the operating system, but not yet accepted by the server, which runs in this process. */
  static async begin({ port }: TestFront): Promise<IdleConnection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise<void>((resolve) => process.nextTick(resolve));
    return new IdleConnection(socket);
  }

  /** Until part of the answer has arrived, or the connection is gone. */
  async ask(path: string, method = 'GET'): Promise<void> {
    this.text = '';
    this.socket.write(requestFor(path, method));
    await until('an answer', () => this.text.includes('\r\n\r\n') || this.isClosed);
  }
}

test('closing: a request on an idle connection while the server closes is answered, and ends the connection', async (context) => {
  const front = await frontOf(context);
  const asked = [
    ['/health/live', 'GET'],
    ['/health/live', 'HEAD'],
    ['/openapi.json', 'GET'],
    ['/nowhere', 'GET'],
  ] as const;
  const idle = await Promise.all(asked.map(() => IdleConnection.open(front)));
  const closed = front.server.close();
  await pause(lingerMs / 3);
  for (const [at, [path, method]] of asked.entries()) {
    const connection = idle[at];
    await connection?.ask(path, method);
    const text = connection?.text ?? '';
    assert.match(text, /^HTTP\/1\.1 (200|404)/, `${method} ${path}`);
    assert.match(text, /\r\nConnection: close\r\n/i, `${method} ${path}`);
  }
  await closed;
  await until('the end', () => idle.every(({ isClosed }) => isClosed));
});

test('closing: a server closes idle connections', async (context) => {
  const front = await frontOf(context);
  const idle = await IdleConnection.open(front);
  await front.server.close();
  await until('the end', () => idle.isClosed);
});

test('closing: a connection that is not yet accepted when the server closes is answered', async (context) => {
  const front = await frontOf(context);
  const connection = await IdleConnection.begin(front);
  const closed = front.server.close();
  await connection.ask('/health/live');
  assert.match(connection.text, /^HTTP\/1\.1 200/);
  await closed;
});

test('closing: a server that was starved while it closes reads what has arrived before it ends', async (context) => {
  const resume = new EventEmitter();
  const readiness = async () => {
    await once(resume, 'ready');
    return whole;
  };
  const front = await frontOf(context, { services: { readiness } });
  const connection = await IdleConnection.open(front);
  const closed = front.server.close();
  await pause(lingerMs / 3);
  const answered = connection.ask('/health/ready');
  const endsMs = performance.now() + lingerMs;
  while (performance.now() < endsMs);
  await until('the request is read, or cut off', () => front.server.active > 0 || connection.isClosed);
  resume.emit('ready');
  await answered;
  assert.match(connection.text, /^HTTP\/1\.1 200/);
  await closed;
});
