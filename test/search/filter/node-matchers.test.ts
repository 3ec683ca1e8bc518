/** Conditions combined with "and", "or" and "not", compared with sets of docs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AllOf, AnyOf, Complement } from '../../../src/search/filter/bind-filter.ts';
import { matchSet } from '../../../src/search/filter/condition.ts';
import type { Matcher } from '../../../src/search/filter/matcher.ts';
import { matcherOf, scanned, setOf, sifted } from '../support/matchers.ts';

const docCount = 70;
const all = Array.from({ length: docCount }, (_, doc) => doc);
const docs = fc.uniqueArray(fc.nat(docCount - 1));
const sets = fc.array(docs, { minLength: 1, maxLength: 5 });

function finds(matcher: Matcher, expected: readonly number[], some: readonly number[]): void {
  assert.deepEqual(scanned(matcher, docCount), expected);
  assert.deepEqual(
    sifted(matcher, some),
    some.filter((doc) => expected.includes(doc)),
    'docs that are tested one by one stay in order',
  );
}

test('node matchers: all finds the docs of every condition', () => {
  fc.assert(
    fc.property(sets, docs, (members, some) => {
      const matcher = new AllOf(members.map((each) => matcherOf(each, docCount)));
      finds(
        matcher,
        all.filter((doc) => members.every((each) => each.includes(doc))),
        some,
      );
    }),
  );
});

test('node matchers: any finds the docs of at least one condition', () => {
  fc.assert(
    fc.property(sets, docs, (members, some) => {
      const matcher = new AnyOf(
        members.map((each) => matcherOf(each, docCount)),
        docCount,
      );
      finds(
        matcher,
        all.filter((doc) => members.some((each) => each.includes(doc))),
        some,
      );
    }),
  );
});

test('node matchers: rest finds the live docs that do not meet a condition', () => {
  const node = {
    kind: 'condition',
    field: 'f',
    operator: 'notEquals',
    value: 1,
    caseInsensitive: false,
  } as const;
  fc.assert(
    fc.property(docs, docs, docs, (others, live, some) => {
      const matcher = new Complement(matchSet(setOf(others, docCount)), setOf(live, docCount), node);
      finds(
        matcher,
        all.filter((doc) => live.includes(doc) && !others.includes(doc)),
        some,
      );
    }),
  );
});

test('node matchers: of several conditions that know their docs, the one with the fewest lists them', () => {
  const matcher = new AllOf([matcherOf([1, 2, 3], 9, true), matcherOf([2, 5], 9, true), matcherOf([2], 9)]);
  const out = new Int32Array(9);
  assert.equal(matcher.few?.list(out), 2);
  assert.deepEqual([...out.subarray(0, 2)], [2, 5]);
  assert.equal(matcher.few?.rest.length, 2);
  assert.equal(new AllOf([matcherOf([2], 9)]).few, null);
});
