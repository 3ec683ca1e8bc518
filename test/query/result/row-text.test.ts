import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { builtInFields } from '../../../src/contract/built-in-fields.ts';
import { isScored, joinedRows, rowText } from '../../../src/query/result/row-text.ts';
import { indexName } from '../../../src/store/keys.ts';

const builtIns = { originId: 'ä"\ud800', sourceId: 's', updatedAtMs: 0, score: 0.5 };

function textOf(fields: object, isWithScore = true): string {
  const fieldsBytes = Buffer.from(JSON.stringify(fields));
  return joinedRows([rowText({ ...builtIns, fieldsBytes }, isWithScore)]).toString();
}

test('a row begins with its built-in fields', () => {
  const head = '{"_originId":"ä\\"\\ud800","_sourceGuid":"s","_updatedAt":"1970-01-01T00:00:00.000Z"';
  assert.equal(textOf({ a: '€', _b: 1 }), `${head},"_score":0.5,"a":"€","_b":1}`);
  assert.equal(textOf({ a: 1 }, false), `${head},"a":1}`);
  assert.equal(textOf({}), `${head},"_score":0.5}`);
});

test('what is auto-indexed and named like a built-in field gives way', () => {
  const names = { _originId: 1, _sourceGuid: 2, _updatedAt: 3, _score: 4, _views: 5 };
  assert.equal(textOf({ ...names, a: 1 }, false), textOf({ a: 1 }, false));
  assert.equal(textOf(names, false), textOf({}, false));
  assert.deepEqual(JSON.parse(textOf({ a: '"_score":' }, false)).a, '"_score":');
});

test('a row is what JSON writes, in exactly the bytes that were counted', () => {
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
      // An index has no fields that are named like built-in ones.
      const fieldsBytes = Buffer.from(JSON.stringify(score === null ? fields : own));
      const values = { originId, sourceId, updatedAtMs, score: score ?? 0, fieldsBytes };
      const row = rowText(values, score !== null);
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

test('rows of an index schema have a score', () => {
  assert.deepEqual(
    [isScored(indexName.schema('auto')), isScored(indexName.auto('group', 't'))],
    [true, false],
  );
});
