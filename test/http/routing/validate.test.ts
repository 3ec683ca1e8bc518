import assert from 'node:assert/strict';
import { test } from 'node:test';
import { urlCodePointsMax } from '../../../src/contract/limits.ts';
import type { Shape } from '../../../src/contract/shape.ts';
import { entityUrlShape, originIdShape } from '../../../src/contract/shapes-ingest.ts';
import { previewBodyShape } from '../../../src/contract/shapes-management.ts';
import { mistakesOf } from '../../../src/http/routing/validate.ts';

function mistakes(shape: Shape, value: string): string[] {
  return mistakesOf(shape, value, 10, 'url').map(({ text }) => text);
}

test('validate: a length counts code points, as in requests for a URL', () => {
  const emoji = '😀'.repeat(urlCodePointsMax - 1);
  assert.deepEqual(mistakes(entityUrlShape, `/${emoji}`), []);
  assert.deepEqual(mistakes(entityUrlShape, `/${emoji}x`), ['url can have at most 4096 characters']);
  assert.deepEqual(mistakes(originIdShape, '😀'.repeat(1024)), []);
  assert.deepEqual(mistakes(originIdShape, '😀'.repeat(1025)), ['url can have at most 1024 characters']);
  assert.deepEqual(mistakes(originIdShape, ''), ['url must not be empty']);
});

test('validate: a value with several allowed shapes gets all of them, not only that it has none', () => {
  const [mistake] = mistakesOf(previewBodyShape, { schema: { kind: 'view' } }, 10);
  assert.match(
    mistake?.text ?? '',
    /^schema must be the alias of a schema, or \{"kind", "language", "text"\}/,
  );
});
