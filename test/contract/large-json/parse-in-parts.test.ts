import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type Json } from '../../../src/contract/json.ts';
import { namesOf, parseInParts } from '../../../src/contract/large-json/parse-in-parts.ts';
import { workBudget } from '../../../src/lib/cooperative-yield.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', '😀', '\u0001', '\ud800') }),
  fc.constantFrom('__proto__', 'constructor', '7'),
);
const scalar = fc.oneof(fc.constantFrom<Json>(null, true, -1.5e300, {}, []), text);
const small = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
/** Some are larger than a part, and so are strings in them. */
const count = fc.oneof(fc.nat(3), fc.integer({ min: 1_000, max: 9_000 }));

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(scalar, small),
    fc.tuple(text, count).map(([part, times]) => part.repeat(times)),
    fc
      .tuple(tie('value'), fc.oneof(scalar, small), count)
      .map(([first, other, times]) => [first, ...Array.from({ length: times }, () => other), first]),
    fc
      .tuple(text, tie('value'), fc.oneof(scalar, small), count)
      .map(
        ([name, first, other, times]): Json =>
          Object.fromEntries([
            ...Array.from({ length: times }, (_, at): [string, Json] => [`${name}${at}`, other]),
            [name, first],
          ]),
      ),
  ),
}));

function parsed(json: string): { value: Json; pauses: number } {
  const steps = parseInParts(json);
  for (let pauses = 0; ; pauses += 1) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, pauses };
  }
}

test('parse in parts: parsing in parts equals JSON.parse', () => {
  let paused = 0;
  fc.assert(
    fc.property(value, (each) => {
      const json = JSON.stringify(each);
      const { value: found, pauses } = parsed(json);
      assert.deepEqual(found, JSON.parse(json));
      assert.equal(JSON.stringify(found), json);
      paused += pauses;
    }),
  );
  assert.ok(paused > 100, `${paused} pauses`);
});

test('parse in parts: no part of a large text takes long, wherever its values are', () => {
  const million = Array.from({ length: 1_000_000 }, () => [1]);
  for (const each of [million, { a: { b: [0, { c: million }] } }, [[[million]], 'text'.repeat(100_000)]]) {
    const { pauses } = parsed(JSON.stringify(each));
    assert.ok(pauses > 100, `${pauses} pauses`);
  }
});

test('parse in parts: a truncated text is an error, as for JSON.parse', () => {
  const json = JSON.stringify({ list: Array.from({ length: 20_000 }, (_, at) => [at, 'x']) });
  for (const wrong of [
    json.slice(0, -1),
    json.slice(0, -2),
    json.slice(0, 70_000),
    `${json}]`,
    `${json},1`,
  ]) {
    assert.throws(() => parsed(wrong), SyntaxError);
  }
});

test('parse in parts: the names of a large object are in the order of JavaScript, including numeric ones, and are found in steps', () => {
  const indexes = ['0', '7', '10', '4294967294'];
  const others = ['01', '1a', '-1', '1.5', '4294967295', '99999999999', '', 'x', '\u0661'];
  const numbers = Array.from({ length: 60_000 }, (_, at) => `${(at * 7_919) % 1_000_003}`);
  const all = [...others, ...numbers.toReversed(), ...indexes.toReversed()];
  const json = JSON.stringify(Object.fromEntries(all.map((name): [string, Json] => [name, 1])));
  const { clock } = workBudget;
  workBudget.clock = () => true;
  const { value: found, pauses } = parsed(json);
  workBudget.clock = clock;
  assert.ok(isJsonObject(found));
  assert.deepEqual(namesOf(found), Object.keys(JSON.parse(json)));
  assert.ok(pauses > json.length / 32_768 + 100, `${pauses} pauses`);
});
