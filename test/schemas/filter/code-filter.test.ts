/** Filters that code concatenates, with raw or encoded values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Build } from '../../../src/schemas/build/build.ts';
import { codeLookup, parseFilter } from '../../../src/schemas/code/code-lookup.ts';
import { QueryValues } from '../../../src/schemas/filter/node.ts';
import { decodeUriText } from '../../../src/schemas/filter/operand-parser.ts';
import { Frame } from '../../../src/schemas/language/scope.ts';
import { entityOf, inputOf } from '../support/fixtures.ts';

function frame(): Frame {
  const build = new Build(inputOf(entityOf({})));
  return new Frame(build, build.root);
}

function valuesOf(filter: string): unknown[] {
  const values = new QueryValues();
  parseFilter(filter, values);
  return values.values(frame());
}

test('code filter: strings are URI-decoded; an invalid escape stays unchanged', () => {
  assert.deepEqual(valuesOf("type eq 'a%20b%C3%A9'"), ['a bé']);
  assert.deepEqual(valuesOf("type eq '100%' or type eq '%zz%C3%25'"), ['100%', '%zz%C3%']);
  assert.deepEqual(valuesOf("type eq '{a}'"), ['{a}']);
});

test('code filter: a quote that is decoded, doubled, or where no string can end is part of the string', () => {
  assert.deepEqual(valuesOf("type eq 'it%27s' and type eq 'it''s'"), ["it's", "it's"]);
  assert.deepEqual(valuesOf("type eq 'it's' or type eq 'the dogs' toys'"), ["it's", "the dogs' toys"]);
  assert.deepEqual(valuesOf("type in ('a', 'b's', '')"), ['a', "b's", '']);
});

test('code filter: any encoded value round-trips, or the filter is an error', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom("'", "')", "' or type eq 'x", ''),
      (text, bait) => {
        const value = text + bait;
        // Two quotes are one, as in every filter.
        fc.pre(value.isWellFormed() && !value.includes("''"));
        let values: unknown[] | null = null;
        try {
          values = valuesOf(`type eq '${encodeURIComponent(value)}'`);
        } catch {
          // Only a quote before a parenthesis can be taken for the end.
          assert.ok(value.includes("')") || value.startsWith("'"), value);
          return;
        }
        assert.deepEqual(values, [value]);
        assert.deepEqual(valuesOf(`type eq '${encodeURIComponent(value).replaceAll("'", '%27')}'`), [value]);
      },
    ),
  );
});

test('code filter: decodes like JavaScript wherever JavaScript can decode', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(text.isWellFormed());
      assert.equal(decodeUriText(encodeURIComponent(text)), text);
    }),
  );
});

test('code filter: an empty list matches nothing, and reads nothing', () => {
  const request = { filter: 'type in ()', childrenOf: null, sourceGroup: null, limit: null, orderBy: null };
  assert.deepEqual(codeLookup(request).query(frame()).keys, []);
});
