import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pack } from '../../../src/store/codec/pack.ts';
import {
  decodeProcessed,
  encodeProcessed,
  type ProcessedRecord,
} from '../../../src/store/derived/processed-record.ts';
import { claimField } from '../../../src/store/keys.ts';
import { runs } from '../../support/runs.ts';

const plain = { noNullPrototype: true } as const;

const text = fc.string({ unit: 'grapheme' });

const name = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);

const stamp = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

/** Of few: what a record says twice is written in another way. */
const url = fc.constantFrom('/', '/a', '/a:b', 'handle');

const field = fc.oneof(
  text,
  url.map((display) => claimField.url(display)),
);

const claims = fc.record(
  {
    field,
    host: fc.option(text, { nil: null }),
    kind: fc.constantFrom('page' as const, 'redirect' as const),
    sinceStamp: fc.oneof(stamp, fc.constant(1)),
    display: fc.oneof(text, url),
    redirect: fc.option(fc.oneof(text, url), { nil: null }),
  },
  plain,
);

const records: fc.Arbitrary<ProcessedRecord> = fc.record(
  {
    stamp: fc.oneof(stamp, fc.constant(1)),
    type: text,
    lookups: fc.array(fc.record({ layoutId: name, keys: fc.array(text) }, plain)),
    outputs: fc.array(
      fc.record(
        {
          kind: fc.constantFrom('view' as const, 'item' as const),
          environmentId: fc.oneof(name, fc.constant('environment')),
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

test('a record from before, which says everything at each place, is read', () => {
  const environment = '9f6b2c0e-0000-4000-8000-000000000001';
  const claim = ['u:/a', null, 0, 5, '/a', null];
  const redirect = ['u:/b', null, 1, 5, '/b', '/a'];
  const digest = Buffer.alloc(8);
  const stored = pack([
    5,
    'page',
    [],
    [
      [0, environment, 'page', 'digest', digest, [claim, redirect], []],
      [1, environment, 'schema:pages', 'digest', digest, [], []],
    ],
  ]);
  const record = decodeProcessed(stored);
  const shared = { environmentId: environment, schemaDigest: 'digest', bytesDigest: digest, dependsOn: [] };
  assert.deepEqual(record, {
    stamp: 5,
    type: 'page',
    lookups: [],
    outputs: [
      {
        ...shared,
        kind: 'view',
        name: 'page',
        claims: [
          { field: 'u:/a', host: null, kind: 'page', sinceStamp: 5, display: '/a', redirect: null },
          { field: 'u:/b', host: null, kind: 'redirect', sinceStamp: 5, display: '/b', redirect: '/a' },
        ],
      },
      { ...shared, kind: 'item', name: 'schema:pages', claims: [] },
    ],
  });
  assert.ok(encodeProcessed(record).length < stored.length - environment.length);
});
