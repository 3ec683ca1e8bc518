import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import { nameListFor } from '../../../src/store/codec/name-lists.ts';
import {
  decodeItem,
  encodeItem,
  namesDigestOf,
  type StoredItem,
  updatedAtIfSame,
} from '../../../src/store/derived/item-record.ts';
import { runs } from '../../support/runs.ts';

const runCount = runs(200);

test('item record: decodes to the same item, and equal items have equal bytes', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.nat(),
      (fields, originId, updatedAtMs) => {
        const parsed = JSON.parse(JSON.stringify(fields)) as JsonObject;
        const item: StoredItem = { sourceId: 'source', originId, updatedAtMs, fields: parsed };
        const stored = encodeItem(item);
        const decoded = decodeItem({ sourceId: 'source', originId }, stored);
        assert.equal(decoded.originId, originId);
        assert.equal(JSON.stringify(decoded), JSON.stringify(item));
        assert.deepEqual(encodeItem(decoded), stored);
      },
    ),
    { numRuns: runCount },
  );
});

test('item record: omits names that are in the order of its list, and decodes to the same item', () => {
  const name = fc.oneof(fc.constantFrom('__proto__', '7', 'a', 'b', 'c', '\ud800'), fc.string());
  let [leftOut, kept] = [0, 0];
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 1, maxLength: 8 }),
      fc.dictionary(name, fc.jsonValue()),
      fc.infiniteStream(fc.option(fc.jsonValue())),
      fc.nat({ max: 2 ** 48 - 1 }),
      (names, others, values, updatedAtMs) => {
        const fields = namedFields(names, values);
        for (const json of [fields, { ...fields, ...others }]) {
          const item = { updatedAtMs, fields: JSON.parse(JSON.stringify(json)) as JsonObject };
          const list = nameListFor(names);
          const stored = encodeItem(item, list);
          const digest = namesDigestOf(stored);
          assert.ok(digest === null || digest.equals(list.digest));
          const decoded = decodeItem({ sourceId: 's', originId: 'e' }, stored, digest && names);
          assert.equal(JSON.stringify(decoded.fields), JSON.stringify(item.fields));
          assert.equal(decoded.updatedAtMs, updatedAtMs);
          assert.deepEqual(encodeItem(decoded, list), stored, 'equal items have equal bytes');
          if (digest === null) kept += 1;
          else leftOut += 1;
        }
      },
    ),
    { numRuns: runCount },
  );
  assert.ok(leftOut > runCount / 2 && kept > runCount / 10, `${leftOut} omitted, ${kept} kept`);
});

/** An object with some of the names, in the order of the list. */
function namedFields(names: readonly string[], values: Iterable<unknown>): JsonObject {
  const given = values[Symbol.iterator]();
  const members = names.flatMap((name) => {
    const value: unknown = given.next().value;
    return value === null ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`];
  });
  return JSON.parse(`{${members.join(',')}}`) as JsonObject;
}

test('item record: keeps prototype names, unpaired surrogates and long numbers sent as strings', () => {
  const text = '{"__proto__":{"x":1},"constructor":"c","id":"9223372036854775807","half":"\\ud800"}';
  const item = { updatedAtMs: 5, fields: JSON.parse(text) as JsonObject };
  const decoded = decodeItem({ sourceId: 's', originId: 'a:b' }, encodeItem(item));
  assert.equal(decoded.originId, 'a:b');
  assert.equal(JSON.stringify(decoded.fields), text);
  assert.equal(Object.hasOwn(decoded.fields, '__proto__'), true);
});

test('item record: equals a JSON string exactly when its fields serialize to it', () => {
  const names = ['a', 'b', '7x', '"', '\ud800', 'ü'];
  const value = fc.oneof(
    fc.constantFrom('', 'n', 'null', ',', ']', '}', '"', '\\', '\\"', '\ud800', '日本', true, 0, -1.5e-7),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const fields = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 6 });
  let [same, others] = [0, 0];
  fc.assert(
    fc.property(fields, fields, fc.boolean(), fc.nat(), (one, other, isOther, updatedAtMs) => {
      const stored = JSON.parse(JSON.stringify(Object.fromEntries(one))) as JsonObject;
      const asked = isOther ? (JSON.parse(JSON.stringify(Object.fromEntries(other))) as JsonObject) : stored;
      const text = JSON.stringify(asked);
      const isSame = text === JSON.stringify(stored);
      for (const list of [null, nameListFor(names)]) {
        const bytes = encodeItem({ updatedAtMs, fields: stored }, list);
        const item = { sourceId: 's', originId: 'o', stored: bytes, names: namesDigestOf(bytes) && names };
        assert.equal(updatedAtIfSame(item, Buffer.from(text)), isSame ? updatedAtMs : null);
      }
      if (isSame) same += 1;
      else others += 1;
    }),
    { numRuns: 5 * runCount },
  );
  assert.ok(same > runCount && others > runCount, `${same} equal, ${others} different`);
});

test('item record: differs from a JSON string with any byte changed, or truncated anywhere', () => {
  const names = ['text', 'list', 'size'];
  const fields = { text: 'a "b", c]', list: ['x', { y: null }], size: 12 };
  const text = Buffer.from(JSON.stringify(fields));
  for (const list of [null, nameListFor(names)]) {
    const stored = encodeItem({ updatedAtMs: 7, fields }, list);
    const item = { sourceId: 's', originId: 'o', stored, names: list && names };
    assert.equal(updatedAtIfSame(item, text), 7);
    for (let at = 0; at < text.length; at += 1) {
      const changed = Buffer.from(text);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.equal(updatedAtIfSame(item, changed), null);
      assert.equal(updatedAtIfSame(item, text.subarray(0, at)), null);
    }
    assert.equal(updatedAtIfSame(item, Buffer.concat([text, Buffer.from('}')])), null);
  }
});
