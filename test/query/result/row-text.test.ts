import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { builtInFields } from '../../../src/contract/query-names.ts';
import { joinedRows, type RowForm, rowFormOf, rowText } from '../../../src/query/result/row-text.ts';
import { indexName } from '../../../src/store/keys.ts';
import { everything } from '../support/queries.ts';

const builtIns = {
  place: { values: [], originId: 'ä"\ud800', sourceId: 's' },
  updatedAtMs: 0,
  score: 0.5,
};
const ofIndex: RowForm = { isWithScore: true, fields: null, distanceAt: null };
const ofGroup: RowForm = { isWithScore: false, fields: null, distanceAt: null };

function textOf(fields: object, form = ofIndex): string {
  const fieldsBytes = Buffer.from(JSON.stringify(fields));
  return joinedRows([rowText({ ...builtIns, fieldsBytes }, form)]).toString();
}

test('row text: a row starts with its built-in fields', () => {
  const head = '{"_originId":"ä\\"\\ud800","_sourceGuid":"s","_updatedAt":"1970-01-01T00:00:00.000Z"';
  assert.equal(textOf({ a: '€', _b: 1 }), `${head},"_score":0.5,"a":"€","_b":1}`);
  assert.equal(textOf({ a: 1 }, ofGroup), `${head},"a":1}`);
  assert.equal(textOf({}), `${head},"_score":0.5}`);
});

test('row text: an auto-indexed field named like a built-in one is hidden', () => {
  const names = { _originId: 1, _sourceGuid: 2, _updatedAt: 3, _score: 4, _views: 5 };
  assert.equal(textOf({ ...names, a: 1 }, ofGroup), textOf({ a: 1 }, ofGroup));
  assert.equal(textOf(names, ofGroup), textOf({}, ofGroup));
  assert.deepEqual(JSON.parse(textOf({ a: '"_score":' }, ofGroup)).a, '"_score":');
});

test('row text: a row is what JSON.stringify writes, in exactly the counted bytes', () => {
  const units = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), units, fc.uuid());
  const row = fc.record({
    originId: text,
    sourceId: text,
    updatedAtMs: fc.integer({ min: 0, max: 4e12 }),
    score: fc.oneof(
      fc.constant(null),
      fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      fc.nat(3),
    ),
    fields: fc.dictionary(fc.oneof(text, fc.constantFrom(...builtInFields)), fc.jsonValue()),
  });
  fc.assert(
    fc.property(row, ({ originId, sourceId, updatedAtMs, score, fields }) => {
      const own = Object.fromEntries(
        Object.entries(fields).filter(([name]) => !builtInFields.includes(name)),
      );
      // An index schema has no fields named like built-in ones.
      const fieldsBytes = Buffer.from(JSON.stringify(score === null ? fields : own));
      const place = { values: [], originId, sourceId };
      const values = { place, updatedAtMs, score: score ?? 0, fieldsBytes };
      const row = rowText(values, score === null ? ofGroup : ofIndex);
      const head = JSON.stringify({
        _originId: originId,
        _sourceGuid: sourceId,
        _updatedAt: new Date(updatedAtMs).toISOString(),
        ...(score === null ? {} : { _score: score }),
      });
      const behind = Object.keys(own).length === 0 ? '}' : `,${JSON.stringify(own).slice(1)}`;
      const expected = Buffer.from(head.slice(0, -1) + behind);
      assert.deepEqual(joinedRows([row, row]), Buffer.concat([expected, expected]));
      assert.equal(row.bytes, expected.length);
    }),
  );
});

test('row text: rows of an index schema have a score', () => {
  const forms = [indexName.schema('auto'), indexName.auto('group', 't')];
  assert.deepEqual(
    forms.map((index) => rowFormOf(index, everything)),
    [ofIndex, ofGroup],
  );
});

test('row text: a row shows only the selected fields, in the order of the item', () => {
  const fields = { b: 1, a: { c: 'ü' }, _score: 9, 'x"': [null] };
  const chosen = new Set(['x"', 'a', '_score', 'nothing', 'toString']);
  const shown = (form: RowForm) => JSON.stringify(JSON.parse(textOf(fields, form)));
  const own = '"a":{"c":"ü"},"_score":9,"x\\"":[null]}';
  assert.ok(textOf(fields, { ...ofIndex, fields: chosen }).endsWith(`"_score":0.5,${own}`));
  assert.ok(!shown({ ...ofGroup, fields: chosen }).includes('_score'));
  assert.equal(textOf(fields, { ...ofIndex, fields: new Set() }), textOf({}));
});

test('row text: a row of a query that sorts by distance has its distance, whatever the item contains', () => {
  const place = { values: ['x', 12.5], originId: 'a', sourceId: 's' };
  const fieldsBytes = Buffer.from('{"_distance":1,"a":2}');
  const shown = (form: RowForm) =>
    JSON.parse(joinedRows([rowText({ ...builtIns, place, fieldsBytes }, form)]).toString());
  assert.deepEqual([shown(ofGroup)._distance, shown({ ...ofGroup, distanceAt: 1 })._distance], [1, 12.5]);
  assert.equal(shown({ ...ofGroup, distanceAt: 2 })._distance, null);
  const sort = [
    { field: 'a', order: 'asc' as const },
    { field: 'b', order: 'desc' as const, near: { lat: 1, lon: 2 } },
  ];
  assert.equal(rowFormOf(indexName.schema('x'), { ...everything, sort }).distanceAt, 1);
});
