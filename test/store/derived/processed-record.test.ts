import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decodeProcessed,
  encodeProcessed,
  type ProcessedRecord,
} from '../../../src/store/derived/processed-record.ts';
import { runs } from '../../support/runs.ts';

const plain = { noNullPrototype: true } as const;

const text = fc.string({ unit: 'grapheme' });

const name = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);

const stamp = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

const claims = fc.record(
  {
    field: text,
    host: fc.option(text, { nil: null }),
    kind: fc.constantFrom('page' as const, 'redirect' as const),
    sinceStamp: stamp,
    display: text,
    redirect: fc.option(text, { nil: null }),
  },
  plain,
);

const records: fc.Arbitrary<ProcessedRecord> = fc.record(
  {
    stamp,
    type: text,
    lookups: fc.array(fc.record({ layoutId: name, keys: fc.array(text) }, plain)),
    outputs: fc.array(
      fc.record(
        {
          kind: fc.constantFrom('view' as const, 'item' as const),
          environmentId: name,
          name: text,
          schemaDigest: text,
          bytesDigest: fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
          claims: fc.array(claims, { maxLength: 3 }),
          dependsOn: fc.array(fc.tuple(name, text), { maxLength: 3 }),
        },
        plain,
      ),
      { maxLength: 4 },
    ),
  },
  plain,
);

test('a processed record comes back as it was stored, with equal bytes when it is stored again', () => {
  fc.assert(
    fc.property(records, (record) => {
      const stored = encodeProcessed(record);
      assert.deepEqual(decodeProcessed(stored), record);
      assert.ok(encodeProcessed(decodeProcessed(stored)).equals(stored));
    }),
    { numRuns: runs(300) },
  );
});
