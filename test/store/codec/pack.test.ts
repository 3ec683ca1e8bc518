import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack, unpack } from '../../../src/store/codec/pack.ts';

test('pack: stamps in microseconds round-trip unchanged', () => {
  const now = 1_763_721_690_123_456;
  assert.deepEqual(unpack(pack([now, Number.MAX_SAFE_INTEGER, 0, false, null])), [
    now,
    Number.MAX_SAFE_INTEGER,
    0,
    false,
    null,
  ]);
});
