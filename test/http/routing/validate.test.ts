import assert from 'node:assert/strict';
import { test } from 'node:test';
import { urlCodePointsMax } from '../../../src/contract/limits.ts';
import { entityUrlShape, originIdShape } from '../../../src/contract/shapes-ingest.ts';
import { mistakesOf } from '../../../src/http/routing/validate.ts';

function mistakes(shape: typeof entityUrlShape, value: string): string[] {
  return mistakesOf(shape, value, 10, 'url').map(({ text }) => text);
}

test('a length counts code points, as in requests for a URL', () => {
  const emoji = '😀'.repeat(urlCodePointsMax - 1);
  assert.deepEqual(mistakes(entityUrlShape, `/${emoji}`), []);
  assert.deepEqual(mistakes(entityUrlShape, `/${emoji}x`), ['url may have at most 4096 characters']);
  assert.deepEqual(mistakes(originIdShape, '😀'.repeat(1024)), []);
  assert.deepEqual(mistakes(originIdShape, '😀'.repeat(1025)), ['url may have at most 1024 characters']);
  assert.deepEqual(mistakes(originIdShape, ''), ['url must not be empty']);
});
