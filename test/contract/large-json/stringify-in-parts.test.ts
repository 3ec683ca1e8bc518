import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { namesOf, parseInParts } from '../../../src/contract/large-json/parse-in-parts.ts';
import { stringified } from '../../../src/contract/large-json/stringify-in-parts.ts';
import { finish, runSync, Suspended } from '../../../src/lib/cooperative-yield.ts';
import { runs } from '../../support/runs.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('"', '\\', '😀', '\u0001', '\ud800', '\udc00') }),
);
const small = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>);
/** Some are larger than a part. */
const count = fc.oneof(fc.nat(3), fc.integer({ min: 900, max: 5_000 }));
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    small,
    fc.tuple(text, count).map(([part, times]) => part.repeat(times * 20)),
    fc
      .tuple(tie('value'), small, count)
      .map(([first, other, times]): Json => [first, ...Array.from({ length: times }, () => other), first]),
    fc
      .tuple(text, tie('value'), small, count)
      .map(
        ([name, first, other, times]): Json =>
          Object.fromEntries([
            ...Array.from({ length: times }, (_, at): [string, Json] => [`${name}${at}`, other]),
            [name, first],
          ]),
      ),
  ),
}));

test('stringify in parts: the text of a value is the same with and without parts', () => {
  let inParts = 0;
  fc.assert(
    fc.property(value, (json) => {
      const made = stringified(json);
      inParts += made instanceof Suspended ? 1 : 0;
      assert.equal(finish(made), JSON.stringify(json));
    }),
    { numRuns: runs(200) },
  );
  assert.ok(inParts > 10, 'some are written in parts');
});

test('stringify in parts: the names of a large object are found in its text, in order', () => {
  for (const prefix of ['k', '']) {
    const object = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`${prefix}${(at * 7_919) % 20_011}`, at]),
    );
    const parsed = runSync(parseInParts(JSON.stringify(object))) as JsonObject;
    assert.deepEqual(namesOf(parsed), Object.keys(object));
  }
});
