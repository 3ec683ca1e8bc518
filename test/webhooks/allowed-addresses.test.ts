import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { AddressGuard } from '../../src/webhooks/allowed-addresses.ts';
import { AddressRefusedError, post } from '../../src/webhooks/post.ts';

const refused = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.31.0.1',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'ff02::1',
  'not an address',
];
const open = ['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::1'];

test('allowed addresses: addresses that are not public are rejected', () => {
  const guard = new AddressGuard([]);
  for (const address of refused) assert.equal(guard.allowsAddress(address), false, address);
  for (const address of open) assert.equal(guard.allowsAddress(address), true, address);
});

test('allowed addresses: listed addresses are allowed, and nothing else', () => {
  const guard = new AddressGuard(['10.0.0.0/8', '::1', 'Hooks.Internal']);
  for (const address of ['10.9.9.9', '::ffff:10.1.1.1', '::1'])
    assert.ok(guard.allowsAddress(address), address);
  for (const address of ['11.0.0.1', '127.0.0.1', '::2', '192.168.0.1']) {
    assert.equal(guard.allowsAddress(address), address === '11.0.0.1', address);
  }
  assert.ok(guard.allowsName('hooks.internal'));
  assert.ok(!guard.isPlainlyRefused('http://hooks.internal/'));
  for (const url of ['http://[::ffff:7f00:1]/', 'http://2130706433/']) {
    assert.ok(guard.isPlainlyRefused(url), url);
  }
  const strict = new AddressGuard([]);
  for (const url of ['http://x.internal/', 'http://localhost:1/'])
    assert.ok(strict.isPlainlyRefused(url), url);
  assert.ok(!guard.isPlainlyRefused('http://localhost:1/'), 'it may be ::1');
  assert.ok(!guard.isPlainlyRefused('http://x.internal/'), 'it may resolve into an allowed network');
  const ofMachine = new AddressGuard(['127.0.0.0/8']);
  assert.ok(!ofMachine.isPlainlyRefused('http://localhost:1/'));
});

test('allowed addresses: nothing is sent to such an address in any notation, nor to a name that resolves to it', async (context) => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(200).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const to = (host: string, allowed: readonly string[] = []) =>
    post(
      { url: `http://${host}:${port}/`, headers: {}, body: '{}' },
      new AddressGuard(allowed),
      new AbortController().signal,
    );
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', '0x7f.1']) {
    await assert.rejects(to(host), AddressRefusedError, host);
  }
  assert.equal(requests, 0);
  assert.equal((await to('localhost', ['localhost'])).status, 200);
  assert.equal((await to('localhost', ['127.0.0.0/8'])).status, 200);
  assert.equal((await to('127.0.0.1', ['127.0.0.1'])).status, 200);
});
