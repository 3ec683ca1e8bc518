import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BodyWriter } from '../../../src/schemas/build/view-body.ts';
import { nullDefinition, scalarDefinition } from '../../../src/schemas/language/definition.ts';
import { frameOver } from '../support/fixtures.ts';

test('definition: a scalar is written as its JSON', () => {
  const scalar = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  fc.assert(
    fc.property(scalar, (value) => {
      const frame = frameOver(null);
      const body = new BodyWriter(frame.build);
      scalarDefinition(() => value).write(frame, body);
      assert.deepEqual(body.finish().texts, [JSON.stringify(value)]);
    }),
  );
});

test('definition: the empty definition writes null and has no references', () => {
  const frame = frameOver(1);
  const body = new BodyWriter(frame.build);
  nullDefinition.write(frame, body);
  assert.deepEqual(body.finish().texts, ['null']);
  assert.equal(nullDefinition.mayRefer, false);
});
