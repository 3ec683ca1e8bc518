import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { parseHole } from '../../../src/schemas/language/expression.ts';
import { Reader, SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { runs } from '../../support/runs.ts';
import { frameOver } from '../support/fixtures.ts';

/** The value of a hole whose root is `given`. */
function valueIn(given: Json, hole: string): Json {
  return parseHole(new Reader(hole), Scope.partial)(frameOver(given));
}

test('expression holes: a string in either kind of quotes is the quoted string', () => {
  const texts = fc.string({
    unit: fc.oneof(fc.constantFrom("'", '"', '\\', '\n', '{', '}', 'u', '\u0001'), fc.string()),
  });
  fc.assert(
    fc.property(texts, fc.constantFrom("'", '"'), (text, quote) => {
      const doubled = text.replaceAll('\\', '\\\\').replaceAll(quote, quote + quote);
      assert.equal(valueIn(null, `{${quote}${doubled}${quote}}`), text);
      const escaped = text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`);
      assert.equal(valueIn(null, `{${quote}${escaped}${quote}}`), text);
      assert.equal(valueIn(null, `{${JSON.stringify(text)}}`), text);
    }),
    { numRuns: runs(500) },
  );
});

test('expression holes: JSON numbers, true, false and null mean what they mean in JSON', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      assert.equal(valueIn(null, `{${JSON.stringify(number)}}`), number === 0 ? 0 : number);
    }),
    { numRuns: runs(200) },
  );
  for (const word of ['null', 'true', 'false']) {
    assert.equal(valueIn({ [word]: 'a member' }, `{${word}}`), JSON.parse(word));
  }
});

test('expression holes: steps select what JavaScript would, in either notation', () => {
  const names = ['a', 'b', 'a b', "it's"];
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(null, 1, 'text'),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 3 }),
    ),
  }));
  const step = fc.oneof(
    fc.constantFrom('a', 'b').map((name) => ({ at: name, written: `.${name}` })),
    fc.constantFrom('a', 'b').map((name) => ({ at: name, written: `?.${name}` })),
    fc.constantFrom(...names).map((name) => ({ at: name, written: `[${JSON.stringify(name)}]` })),
    fc.constantFrom(...names).map((name) => ({ at: name, written: `?.[ '${name.replaceAll("'", "''")}' ]` })),
    fc.nat(2).map((index) => ({ at: index, written: `[${index}]` })),
  );
  fc.assert(
    fc.property(tree, fc.array(step, { maxLength: 4 }), (root, steps) => {
      const hole = `{root${steps.map(({ written }) => written).join('')}}`;
      assert.deepEqual(
        valueIn(root, hole),
        walk(
          root,
          steps.map(({ at }) => at),
        ),
        hole,
      );
    }),
    { numRuns: runs(1_000) },
  );
});

function walk(root: Json, steps: readonly (string | number)[]): Json {
  let value: Json = root;
  for (const step of steps) {
    const hasMembers = typeof step === 'number' ? Array.isArray(value) : !Array.isArray(value);
    const members = new Map(hasMembers && typeof value === 'object' ? Object.entries(value ?? {}) : []);
    value = members.get(String(step)) ?? null;
  }
  return value;
}

test('expression holes: `??` returns the first operand that is not null', () => {
  const operands = fc.array(fc.constantFrom<Json>(null, 0, '', false, 'x', 7), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(operands, (given) => {
      const hole = `{${given.map((_, at) => `root[${at}]`).join(' ?? ')}}`;
      assert.equal(valueIn(given, hole), given.find((value) => value !== null) ?? null);
    }),
    { numRuns: runs(200) },
  );
  assert.equal(valueIn({}, '{ a??(b ?? "c") }'), 'c');
  assert.deepEqual(valueIn({ b: { c: [5] } }, '{(a ?? b).c[0]}'), 5);
});

test('expression holes: the reader stops after the hole', () => {
  const reader = new Reader("x{'}'}y");
  reader.position = 1;
  parseHole(reader, Scope.partial);
  assert.equal(reader.position, 6);
});

test('expression holes: any string is a hole or an error whose position is in the string', () => {
  const tokens = ['{', '}', '(', ')', '[', ']', '.', '?.', '??', "'", '"', '\\', 'a', '0', '-', ' ', 'null'];
  const texts = fc.array(fc.constantFrom(...tokens), { maxLength: 12 }).map((parts) => `{${parts.join('')}`);
  fc.assert(
    fc.property(texts, (text) => {
      try {
        parseHole(new Reader(text), Scope.partial);
      } catch (error) {
        assert.ok(error instanceof SchemaSyntaxError, String(error));
        assert.ok(error.position >= 0 && error.position <= text.length);
      }
    }),
    { numRuns: runs(2_000) },
  );
});
