import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Call } from '../../src/http/call.ts';
import { routeTable } from '../../src/http/routing/route-table.ts';
import { declaredHeaders } from '../../src/http/routing/served-route.ts';

const sent = new Map([
  ['accept', 'text/html'],
  ['x-own-wait', '5'],
  ['x-service-wait', '7'],
  ['host', 'example.com'],
]);

test('call: a handler reads the headers that its route declares, under each prefix, and no others', () => {
  const declared = declaredHeaders(
    [
      { name: 'Accept', prefixed: false, description: '' },
      { name: 'Wait', prefixed: true, description: '' },
      { name: 'Type', prefixed: true, description: '' },
    ],
    ['X-Service', 'X-Own'],
  );
  const headers = { of: (name: string) => sent.get(name) ?? '' };
  const call = new Call({ query: '', headers, declared, parameters: [] }, null, null);
  const read = ['accept', 'wait', 'type', 'host', 'x-own-wait'].map((name) => call.header(name));
  assert.deepEqual(read, ['text/html', '7', '', '', '']);
});

test('call: the endpoint of live answers declares the header that requests them, and its neighbors do not', () => {
  const declaring = routeTable.filter(({ path, headers }) => {
    return ['/v1', '/v2'].includes(path) && headers.some(({ name }) => name === 'Accept');
  });
  assert.deepEqual(
    declaring.map(({ name }) => name),
    ['deliver'],
  );
});
