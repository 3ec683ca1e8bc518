import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { facetsTextOf, groupsTexts, SizeBudget } from '../../../src/query/result/result-text.ts';
import { whole } from '../support/queries.ts';

const value = fc.oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true }), fc.boolean());
const group = fc.record({ value, count: fc.nat() });

test('facets text: facets are what JSON.stringify writes, however long they are', () => {
  const facet = fc.record({
    name: fc.string(),
    field: fc.string(),
    groups: fc.oneof(
      fc.array(group),
      fc
        .array(group, { minLength: 1, maxLength: 3 })
        .map((few) => Array.from({ length: 900 }, () => few).flat()),
    ),
    isValid: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(facet, { maxLength: 3 }), (facets) => {
      assert.equal(whole(facetsTextOf(facets, new SizeBudget())), JSON.stringify(facets));
    }),
  );
});

const long = Array.from({ length: 100 }, (_, n) => ({ value: `${n} `.padEnd(10_000, 'x'), count: 1000 - n }));

test('facets text: of long lists only the requested groups are sent, with the maximum count of the others', () => {
  const texts = whole(groupsTexts([{ groups: long }], () => 20, new SizeBudget()));
  const [sent] = JSON.parse(texts ?? '');
  assert.deepEqual(sent, { groups: long.slice(0, 20), restMax: 980 });
});

test('facets text: the text is empty if there is no room for it', () => {
  const budget = new SizeBudget();
  budget.take(33_500_000);
  assert.equal(whole(groupsTexts([{ groups: long }, { groups: [] }], () => 100, budget)), null);
  assert.equal(budget.isExceeded, true);
  assert.equal(
    whole(facetsTextOf([{ name: 'f', field: 'f', groups: [{ value: 1, count: 1 }], isValid: true }], budget)),
    null,
  );
});
