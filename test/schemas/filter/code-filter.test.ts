/** Filters that code puts together: values that were put in as they are, or encoded. */
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

test('texts are URI-decoded; what begins no code stays', () => {
  assert.deepEqual(valuesOf("type eq 'a%20b%C3%A9'"), ['a bé']);
  assert.deepEqual(valuesOf("type eq '100%' or type eq '%zz%C3%25'"), ['100%', '%zz%C3%']);
  assert.deepEqual(valuesOf("type eq '{a}'"), ['{a}']);
});

test('a quote that was decoded, doubled, or stands where no text can end is one of the text', () => {
  assert.deepEqual(valuesOf("type eq 'it%27s' and type eq 'it''s'"), ["it's", "it's"]);
  assert.deepEqual(valuesOf("type eq 'it's' or type eq 'the dogs' toys'"), ["it's", "the dogs' toys"]);
  assert.deepEqual(valuesOf("type in ('a', 'b's', '')"), ['a', "b's", '']);
});

test('an encoded value comes back as it was, whatever it holds, or the filter is a mistake', () => {
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
          // Only a quote that stands before a parenthesis may be taken for the end.
          assert.ok(value.includes("')") || value.startsWith("'"), value);
          return;
        }
        assert.deepEqual(values, [value]);
        assert.deepEqual(valuesOf(`type eq '${encodeURIComponent(value).replaceAll("'", '%27')}'`), [value]);
      },
    ),
  );
});

test('decoding is that of the language wherever that decodes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(text.isWellFormed());
      assert.equal(decodeUriText(encodeURIComponent(text)), text);
    }),
  );
});

test('an empty list matches nothing, and reads nothing', () => {
  const request = { filter: 'type in ()', childrenOf: null, sourceGroup: null, limit: null, orderBy: null };
  assert.deepEqual(codeLookup(request).query(frame()).keys, []);
});
