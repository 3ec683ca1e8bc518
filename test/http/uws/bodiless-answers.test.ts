/** A random share of the answers without a body end their connection: here first none, then each. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { until } from '../../support/until.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';

let front: TestFront;
before(async () => {
  front = await startFront();
  await putView(front.store, 'a', 'A');
  await putClaim(front.store, 'a', { url: '/a' });
});
after(() => front.stop());

const head = (line: string, ...fields: string[]) =>
  `${[line, 'Host: x', `X-Api-Key: ${apiKeys.client}`, ...fields].join('\r\n')}\r\n\r\n`;
const requests = {
  'a preflight': head('OPTIONS /v2 HTTP/1.1', 'Origin: https://example.com'),
  'HEAD of a view': head('HEAD /v2?url=/a HTTP/1.1'),
  'HEAD of an unknown path': head('HEAD /nowhere HTTP/1.1'),
  'what is not modified': head('GET /v2?url=/a HTTP/1.1', 'If-None-Match: *'),
};

/** Repeats a request on one connection, each time after the previous head has arrived. */
async function headsOf(request: string, count: number): Promise<{ heads: string[]; isClosed: boolean }> {
  const socket = connect({ port: front.port, host: '127.0.0.1' });
  let text = '';
  let isClosed = false;
  socket.on('close', () => {
    isClosed = true;
  });
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  const heads = () => text.split(/(?<=\r\n\r\n)/);
  for (let sent = 1; sent <= count; sent += 1) {
    socket.write(request);
    await until('a complete head', () => heads().length === sent && text.endsWith('\r\n\r\n'));
  }
  if (text.includes('\r\nConnection: close\r\n')) await until('the end', () => isClosed);
  socket.destroy();
  return { heads: heads(), isClosed };
}

/** Fields of the head that do not change every second. */
function fieldsOf(text: string): string[] {
  assert.ok(text.endsWith('\r\n\r\n'), text);
  return text
    .trimEnd()
    .split('\r\n')
    .filter((line) => !/^(?:Date|uWebSockets|Connection|X-Request-Id)\b/i.test(line));
}

for (const [what, request] of Object.entries(requests)) {
  test(`bodiless answers: ${what} is the same as the last answer of a connection`, async (context) => {
    // The mock ends with this test: the other files of this process use random numbers too.
    const chance = context.mock.method(Math, 'random');
    chance.mock.mockImplementation(() => 0.5);
    const kept = await headsOf(request, 2);
    assert.equal(kept.isClosed, false);
    chance.mock.mockImplementation(() => 0);
    const last = await headsOf(request, 1);
    assert.equal(last.isClosed, true);
    const [first = '', second = ''] = kept.heads;
    assert.deepEqual(fieldsOf(second), fieldsOf(first));
    assert.deepEqual(fieldsOf(last.heads[0] ?? ''), fieldsOf(first));
  });
}

test('bodiless answers: an answer without a body by its status has no Content-Length', async (context) => {
  const chance = context.mock.method(Math, 'random');
  for (const value of [0, 0.5]) {
    chance.mock.mockImplementation(() => value);
    for (const request of [requests['a preflight'], requests['what is not modified']]) {
      const { heads } = await headsOf(request, 1);
      assert.doesNotMatch(heads[0] ?? '', /content-length/i);
    }
  }
});
