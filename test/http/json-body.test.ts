import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unstorable } from '../../src/http/json-body.ts';

test('JSON body: valid JSON that the platform cannot store is reported', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100; level += 1) deep = [deep];
  assert.equal(unstorable(deep as never, 'properties', 100), null);
  assert.match(unstorable([deep] as never, 'properties', 100) ?? '', /nested too deep/);
  assert.match(unstorable(JSON.parse('{"a":[1e999]}'), 'properties', 100) ?? '', /range/);
  assert.match(unstorable(JSON.parse('{"a":"\\ud800"}'), 'properties', 100) ?? '', /surrogate/);
  assert.match(unstorable(JSON.parse('{"\\udc00":1}'), 'properties', 100) ?? '', /surrogate/);
  assert.equal(unstorable(JSON.parse('{"a":"\\ud83d\\ude00"}'), 'properties', 100), null);
});
