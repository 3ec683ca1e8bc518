import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { runs } from '../../support/runs.ts';
import { frameOver } from '../support/fixtures.ts';

/** Strings full of characters with a meaning in a path, in a hole, or to their parsers. */
const textUnit = fc.oneof(
  fc.constantFrom(...`'"\\{}[]()?@$.*,:!=<>&|~#0a /\b\n`, '\u0000', '\u0001', '\u2028', '😀'),
  fc.constantFrom('\udc00', '\udc000\udc00', '\ud83d', '\\u0041', "'] || $['", '__proto__', '{{', '{p.x}'),
);
const text = fc.array(textUnit, { maxLength: 8 }).map((units) => units.join(''));
const scalar = fc.oneof(
  text,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);

function list(path: string, root: Json): readonly Json[] {
  return finish(compilePath(path, Scope.partial).list(frameOver(root)));
}

const options = { numRuns: runs(300) };

test('holes: a hole alone in a filter is its value and nothing else', () => {
  fc.assert(
    fc.property(scalar, fc.array(scalar, { maxLength: 5 }), (wanted, others) => {
      const items = [...others, wanted].map((value, n) => ({ value, n }));
      const expected = items.filter(({ value }) => value === wanted).map(({ n }) => n);
      assert.deepEqual(list('$.items[?@.value == {wanted}].n', { items, wanted }), expected);
    }),
    options,
  );
});

test('holes: a hole in quotes is a string within a string and nothing else', () => {
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 5 }), (wanted, others) => {
      const items = [...others, wanted].map((value, n) => ({ value: `a"'${value}\n`, n }));
      const expected = items.filter(({ value }) => value === `a"'${wanted}\n`).map(({ n }) => n);
      const root = { items, wanted };
      assert.deepEqual(list(`$.items[?@.value == 'a"\\'{wanted}\\n'].n`, root), expected);
      assert.deepEqual(list(`$.items[?@.value == "a\\"'{wanted}\\n"].n`, root), expected);
    }),
    options,
  );
});

test('holes: a hole in brackets is a name or an index and nothing else', () => {
  fc.assert(
    fc.property(
      text,
      fc.array(text, { maxLength: 5 }),
      fc.integer({ min: -6, max: 6 }),
      (key, names, index) => {
        const map = Object.fromEntries([...names, key].map((name, n) => [name, n]));
        const root = { map, key, index, names };
        const expected = Object.entries(map).flatMap(([name, n]) => (name === key ? [n] : []));
        for (const path of ["$.map['{key}']", '$.map["{key}"]', '$.map[{key}]', '$["map"][{key}]']) {
          assert.deepEqual(list(path, root), expected, path);
        }
        const element = names.slice(index, index === -1 ? undefined : index + 1);
        assert.deepEqual(list('$.names[{index}]', root), element);
        assert.deepEqual(list('$.names[{key}]', root), []);
      },
    ),
    options,
  );
});

test('holes: arrays and objects in a hole become their JSON', () => {
  const root = { items: ['[1]', [1], '{"a":1}'], array: [1], object: { a: 1 } };
  assert.deepEqual(list('$.items[?@ == {array}]', root), ['[1]']);
  assert.deepEqual(list("$.items[?@ == '{object}']", root), ['{"a":1}']);
});

test('holes: a hole is evaluated again in each run', () => {
  const path = compilePath('$.map[{key}]', Scope.partial);
  const map = { a: 1, b: 2 };
  assert.deepEqual(path.list(frameOver({ map, key: 'a' })), [1]);
  assert.deepEqual(path.list(frameOver({ map, key: 'b' })), [2]);
});
