import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as limits from '../../src/contract/limits.ts';
import { listLimits } from './support/limit-list.ts';

const listed = listLimits(readFileSync(new URL('../../src/contract/limits.ts', import.meta.url), 'utf8'));

test('limit list: every limit is listed with a meaning, and no others', () => {
  assert.deepEqual(listed.map(({ name }) => name).sort(), Object.keys(limits).sort());
  for (const { name, value, meaning } of listed) {
    assert.ok(Number.isFinite(value) && value > 0, name);
    assert.match(meaning, /^[A-Z`].{8,}\.$/, name);
  }
});

test('limit list: the unit follows from the name', () => {
  const unitOf = (name: string) => listed.find((limit) => limit.name === name)?.unit;
  assert.equal(unitOf('entityBytesMax'), 'bytes');
  assert.equal(unitOf('drainMs'), 'ms');
  assert.equal(unitOf('queryCpuMsMax'), 'ms');
  assert.equal(unitOf('retryAfterSeconds'), 's');
  assert.equal(unitOf('leaseSecondsMin'), 's');
  assert.equal(unitOf('apiKeyCharactersMax'), 'UTF-16 units');
  assert.equal(unitOf('searchCodePointsMax'), 'code points');
  assert.equal(unitOf('bodiesMebibytesMax'), 'MiB');
  assert.equal(unitOf('openRequestsPerSecond'), '');
  assert.equal(unitOf('bulkEntitiesMax'), '');
});
