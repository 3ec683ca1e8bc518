import assert from 'node:assert/strict';
import { test } from 'node:test';
import { urlCodePointsMax } from '../../../src/contract/limits.ts';
import type { Shape } from '../../../src/contract/shape.ts';
import { entityUrlShape, originIdShape } from '../../../src/contract/shapes-ingest.ts';
import { previewBodyShape } from '../../../src/contract/shapes-management.ts';
import { validate } from '../../../src/http/routing/validate.ts';

function errors(shape: Shape, value: string): string[] {
  return validate(shape, value, 10, 'url').map(({ text }) => text);
}

test('validate: a length counts code points, as in requests for a URL', () => {
  const emoji = '😀'.repeat(urlCodePointsMax - 1);
  assert.deepEqual(errors(entityUrlShape, `/${emoji}`), []);
  assert.deepEqual(errors(entityUrlShape, `/${emoji}x`), ['url can have at most 4096 characters']);
  assert.deepEqual(errors(originIdShape, '😀'.repeat(1024)), []);
  assert.deepEqual(errors(originIdShape, '😀'.repeat(1025)), ['url can have at most 1024 characters']);
  assert.deepEqual(errors(originIdShape, ''), ['url must not be empty']);
});

test('validate: a value with several allowed shapes gets all of them, not only that it has none', () => {
  const [error] = validate(previewBodyShape, { schema: { kind: 'view' } }, 10);
  assert.match(error?.text ?? '', /^schema must be the alias of a schema, or \{"kind", "language", "text"\}/);
});
