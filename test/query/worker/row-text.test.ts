import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { builtInFields } from '../../../src/contract/built-in-fields.ts';
import { RowHeads } from '../../../src/query/worker/row-heads.ts';
import {
  isScored,
  type RowPieces,
  rowText,
  scoredRow,
  unscoredRow,
  writeRow,
} from '../../../src/query/worker/row-text.ts';
import { indexName } from '../../../src/store/keys.ts';

const builtIns = { originId: 'ä"\ud800', sourceId: 's', updatedAtMs: 0, score: 0.5 };

function piecesOf(fields: object, score: number | null): RowPieces {
  const fieldsBytes = Buffer.from(JSON.stringify(fields));
  return score === null
    ? unscoredRow({ ...builtIns, score: 0, fieldsBytes })
    : scoredRow({ ...builtIns, score, fieldsBytes });
}

function textOf(fields: object, score: number | null = builtIns.score): string {
  return rowText(piecesOf(fields, score)).toString();
}

test('a row begins with its built-in fields', () => {
  const head = '{"_originId":"ä\\"\\ud800","_sourceGuid":"s","_updatedAt":"1970-01-01T00:00:00.000Z"';
  assert.equal(textOf({ a: '€', _b: 1 }), `${head},"_score":0.5,"a":"€","_b":1}`);
  assert.equal(textOf({ a: 1 }, null), `${head},"a":1}`);
  assert.equal(textOf({}), `${head},"_score":0.5}`);
});

test('what is auto-indexed and named like a built-in field gives way', () => {
  const names = { _originId: 1, _sourceGuid: 2, _updatedAt: 3, _score: 4, _views: 5 };
  assert.equal(textOf({ ...names, a: 1 }, null), textOf({ a: 1 }, null));
  assert.equal(textOf(names, null), textOf({}, null));
  assert.deepEqual(JSON.parse(textOf({ a: '"_score":' }, null)).a, '"_score":');
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
      const pieces = score === null ? unscoredRow(values) : scoredRow(values);
      const head = JSON.stringify({
        _originId: originId,
        _sourceGuid: sourceId,
        _updatedAt: new Date(updatedAtMs).toISOString(),
        ...(score === null ? {} : { _score: score }),
      });
      const behind = Object.keys(own).length === 0 ? '}' : `,${JSON.stringify(own).slice(1)}`;
      const expected = Buffer.from(head.slice(0, -1) + behind);
      const into = Buffer.alloc(expected.length + 2, '.');
      assert.equal(writeRow(pieces, into, 1), expected.length + 1);
      assert.deepEqual(into, Buffer.concat([Buffer.from('.'), expected, Buffer.from('.')]));
      assert.equal(pieces.bytes, expected.length);
      assert.deepEqual(rowText(pieces), expected);
    }),
  );
});

test('a head is that of its own row, whichever were asked for before', () => {
  const heads = new RowHeads();
  const ids = fc.constantFrom('a', 'b', 'ä', 'x'.repeat(600));
  const sources = fc.constantFrom('s', 't');
  const asked = fc.array(fc.tuple(ids, sources, fc.nat(2)), { minLength: 50, maxLength: 500 });
  const many = fc.array(fc.tuple(fc.nat(9000).map(String), sources, fc.nat(2)), { minLength: 9000 });
  for (const rows of [...fc.sample(asked, 50), ...fc.sample(many, 2)]) {
    for (const [originId, sourceId, updatedAtMs] of rows) {
      const expected = JSON.stringify({
        _originId: originId,
        _sourceGuid: sourceId,
        _updatedAt: new Date(updatedAtMs).toISOString(),
      }).slice(0, -1);
      assert.equal(Buffer.from(heads.of(originId, sourceId, updatedAtMs)).toString(), expected);
    }
  }
});

test('rows of an index schema have a score', () => {
  assert.deepEqual(
    [isScored(indexName.schema('auto')), isScored(indexName.auto('group', 't'))],
    [true, false],
  );
});
