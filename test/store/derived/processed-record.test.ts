import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import {
  decodeProcessed,
  encodeProcessed,
  openProcessed,
  type ProcessedOutput,
  type ProcessedRecord,
  processedNamesOf,
} from '../../../src/store/derived/processed-record.ts';
import { claimField } from '../../../src/store/keys.ts';
import { runs } from '../../support/runs.ts';

const plain = { noNullPrototype: true } as const;

const text = fc.string({ unit: 'grapheme' });

const name = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);

const stamp = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

/** Drawn from few values: a repeated value of a record has a shorter encoding. */
const url = fc.constantFrom('/', '/a', '/a:b', 'handle');

const field = fc.oneof(
  text,
  url.map((display) => claimField.url(display)),
);

const claims = fc.record(
  {
    field,
    host: fc.option(text, { nil: null, freq: 1 }),
    kind: fc.constantFrom('page' as const, 'redirect' as const),
    sinceStamp: fc.oneof(stamp, fc.constant(1)),
    display: fc.oneof(text, url),
    redirect: fc.option(fc.oneof(text, url), { nil: null }),
  },
  plain,
);

const entity = fc.record({ sourceId: name, originId: text }, plain);

/** What most outputs omit. */
const further = fc.record(
  {
    references: fc.array(text, { minLength: 1, maxLength: 2 }),
    reportedType: text,
    destinations: fc.array(fc.record({ alias: name, options: fc.constant<JsonObject>({ a: [1] }) }, plain), {
      minLength: 1,
      maxLength: 2,
    }),
    because: fc.oneof(
      fc.record({ kind: fc.constant('lookup' as const), entity }, plain),
      fc.record({ kind: fc.constant('repair' as const) }, plain),
    ),
    failure: fc.record({ message: text, place: text }, plain),
  },
  { ...plain, requiredKeys: [] },
);

const output = fc.record(
  {
    kind: fc.constantFrom('view' as const, 'item' as const),
    environmentId: fc.oneof(name, fc.uuid(), fc.constant('environment')),
    name: text,
    schemaDigest: text,
    bytesDigest: fc.uint8Array({ minLength: 8, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
    claims: fc.array(claims, { maxLength: 3 }),
    dependsOn: fc.array(fc.tuple(fc.oneof(name, fc.uuid()), text), { maxLength: 3 }),
  },
  plain,
);

const records: fc.Arbitrary<ProcessedRecord> = fc.record(
  {
    stamp: fc.oneof(stamp, fc.constant(1)),
    type: text,
    lookups: fc.array(fc.record({ layoutId: name, keys: fc.array(text) }, plain)),
    outputs: fc.array(
      fc.tuple(output, further).map(([made, more]) => ({ ...made, ...more }) as ProcessedOutput),
      { maxLength: 4 },
    ),
  },
  plain,
);

test('processed record: a stored record is read back unchanged, and storing it again gives equal bytes', () => {
  fc.assert(
    fc.property(records, (record) => {
      const stored = encodeProcessed(record);
      const open = openProcessed(stored);
      assert.equal(open.stamp, record.stamp);
      assert.equal(open.namesDigest, null);
      assert.deepEqual(decodeProcessed(open, null), record);
      assert.ok(encodeProcessed(decodeProcessed(open, null)).equals(stored));
    }),
    { numRuns: runs(300) },
  );
});

/** Number of records with the same names before the names are omitted. */
const metBefore = 64;

test('processed record: a record with frequent names omits them, and is read back with them', () => {
  fc.assert(
    fc.property(records, (record) => {
      for (let met = 1; met < metBefore; met += 1) processedNamesOf(record);
      const list = processedNamesOf(record);
      assert.ok(list !== null);
      const stored = encodeProcessed(record, list);
      const open = openProcessed(stored);
      assert.equal(open.stamp, record.stamp);
      assert.deepEqual(Buffer.from(open.namesDigest ?? []), list.digest);
      const names: string[] = JSON.parse(list.text);
      assert.deepEqual(decodeProcessed(open, names), record);
      assert.ok(encodeProcessed(decodeProcessed(open, names), list).equals(stored));
    }),
    { numRuns: runs(100) },
  );
});
