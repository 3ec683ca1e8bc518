import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { Json } from '../../src/contract/json.ts';
import { jsonEqual, textSteps } from '../../src/schemas/values.ts';
import { runs } from '../support/runs.ts';

const free = (): void => undefined;

/** Few leaves and names, so that two random values are often nearly equal. */
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, 0, 1, '', '0', 'a', true, false),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', '0', '__proto__'), tie('value'), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
  ),
}));

test('JSON equal: agrees with the deep equality of Node', () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(jsonEqual(a, b, free), isDeepStrictEqual(a, b));
      assert.equal(jsonEqual(a, copied(a), free), true);
    }),
    { numRuns: runs(2_000) },
  );
});

function copied(json: Json): Json {
  return JSON.parse(JSON.stringify(json));
}

test('JSON equal: equality is typed and depends on the order of arrays, not of members', () => {
  const cases: [Json, Json, boolean][] = [
    [9, '9', false],
    [0, false, false],
    [null, {}, false],
    [[], {}, false],
    [{ 0: 'a' }, ['a'], false],
    [[1, 2], [2, 1], false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: null }, {}, false],
    [{ a: null }, { b: null }, false],
    [JSON.parse('{"__proto__": {}}'), {}, false],
    [JSON.parse('{"__proto__": {}}'), { a: {} }, false],
  ];
  for (const [a, b, wanted] of cases) {
    assert.equal(jsonEqual(a, b, free), wanted, JSON.stringify([a, b]));
    assert.equal(jsonEqual(b, a, free), wanted, JSON.stringify([b, a]));
  }
});

test('JSON equal: absent equals only absent', () => {
  assert.equal(jsonEqual(undefined, undefined, free), true);
  assert.equal(jsonEqual(undefined, null, free), false);
  assert.equal(jsonEqual({}, undefined, free), false);
});

test('JSON equal: the work is reported, and the callback can stop the comparison', () => {
  const list = Array.from({ length: 1_000 }, (_, at) => at);
  let steps = 0;
  jsonEqual(list, [...list], (more) => {
    steps += more;
  });
  assert.equal(steps, 1_001);
  let left = 100;
  const spend = (more: number) => {
    left -= more;
    if (left < 0) throw new Error('no steps are left');
  };
  assert.throws(() => jsonEqual(list, [...list], spend), /no steps are left/);
});

test('JSON equal: comparing strings costs a step per sixteen characters of the shorter one', () => {
  assert.equal(textSteps('x'.repeat(1_600), 'x'.repeat(16_000)), 100);
  assert.equal(textSteps('x'.repeat(15), 'x'.repeat(15)), 0);
  assert.equal(textSteps('x'.repeat(1_600), 7), 0);
  assert.equal(textSteps(undefined, 'x'.repeat(1_600)), 0);
});
