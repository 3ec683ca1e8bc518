import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ViewBody } from '../../../src/schemas/build/view-body.ts';
import { digestBytes, digestOf } from '../../../src/store/codec/digest.ts';
import { pack, unpack } from '../../../src/store/codec/pack.ts';
import { formatDependent, parseDependent } from '../../../src/store/derived/dependents.ts';
import {
  decodeProcessed,
  encodeProcessed,
  type ProcessedRecord,
} from '../../../src/store/derived/processed-record.ts';
import { decodeBody, encodeBody } from '../../../src/store/derived/stored-body.ts';
import { viewTarget } from '../../../src/store/derived/views.ts';
import { decodeAnnouncement } from '../../../src/store/partitions/announcement.ts';
import { packForLua } from '../../../src/store/redis/lua-list.ts';
import { formatVersion, parseVersion } from '../../../src/store/visibility/version.ts';
import { runs } from '../../support/runs.ts';

const plain = { noNullPrototype: true } as const;
const text = fc.string({ unit: 'grapheme' });
const name = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);
const stamp = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

const bodies: fc.Arbitrary<ViewBody> = fc
  .array(
    fc.oneof(
      fc.record({
        target: fc.record({ environmentId: name, sourceId: name, originId: text, alias: name }),
        viewId: fc.constant(null),
        path: text,
      }),
      fc.record({ target: fc.constant(null), viewId: text, path: text }),
    ),
    { maxLength: 5 },
  )
  .chain((references) =>
    fc
      .array(text, { minLength: references.length + 1, maxLength: references.length + 1 })
      .map((texts) => ({ texts, references })),
  );

test('a view comes back from its stored form with the same texts and references', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const stored = decodeBody(encodeBody(body));
      assert.deepEqual(
        stored.texts.map((piece) => piece.toString()),
        body.texts,
      );
      const expected = body.references.map(({ target, viewId, path }) => ({
        target: target && viewTarget(target),
        viewId,
        path,
      }));
      assert.deepEqual(stored.references, expected);
    }),
    { numRuns: runs(300) },
  );
});

test('of a view that an earlier release stored, ids that its references name by their targets are left out', () => {
  const target = { environmentId: 'e', sourceId: 's', originId: 'o', alias: 'a' };
  const former = encodeBody({
    texts: ['{"x":', '}'],
    references: [{ target, viewId: 'gid://…', path: '.x' }],
  });
  assert.deepEqual(decodeBody(former).references, [{ target: viewTarget(target), viewId: null, path: '.x' }]);
});

test('equal views have equal bytes, however often they were made', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const again = structuredClone(body);
      assert.ok(encodeBody(body).equals(encodeBody(again)));
    }),
    { numRuns: runs(100) },
  );
});

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

test('a dependent comes back from its name, with bars and anything else in its originId', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('view' as const, 'item' as const, 'entity' as const, 'repair' as const),
      name,
      name,
      name,
      text,
      (kind, environmentId, alias, sourceId, originId) => {
        const dependent = { kind, environmentId, name: alias, sourceId, originId: `a|${originId}` };
        assert.deepEqual(parseDependent(formatDependent(dependent)), dependent);
      },
    ),
    { numRuns: runs(200) },
  );
});

test('a text that names no dependent is none', () => {
  for (const wrong of ['', 'v', 'v|e|a', 'x|e|a|s|o', 'constructor|e|a|s|o', '__proto__|e|a|s|o']) {
    assert.equal(parseDependent(wrong), null, wrong);
  }
});

test('a version comes back from its token, which is safe in a header', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(1023), stamp)), (entries) => {
      const version = new Map(entries);
      const token = formatVersion(version);
      assert.match(token, /^[A-Za-z0-9.-]*$/);
      assert.deepEqual(parseVersion(token), new Map([...version].sort(([a], [b]) => a - b)));
    }),
    { numRuns: runs(200) },
  );
});

test('no text but a token is taken for a version', () => {
  for (const wrong of [
    '',
    'v2-0.1',
    'v1-0',
    'v1-0.',
    'v1-.1',
    'v1-0.1-',
    'v1-0.A',
    'v1--',
    'v1-0.1x!',
    '{}',
  ]) {
    assert.equal(parseVersion(wrong), null, wrong);
  }
  fc.assert(
    fc.property(fc.string({ maxLength: 50 }), (wrong) => {
      const parsed = parseVersion(wrong);
      assert.ok(parsed === null || wrong.startsWith('v1'));
    }),
    { numRuns: runs(200) },
  );
});

test('digests are 8 bytes that stay the same for ever', () => {
  assert.equal(digestOf('').length, digestBytes);
  assert.equal(
    digestOf('acme:env:u:/a').toString('hex'),
    digestOf(Buffer.from('acme:env:u:/a')).toString('hex'),
  );
  assert.equal(digestOf('').toString('hex'), '99e9d85137db46ef');
  assert.equal(digestOf('abc').toString('hex'), '990977adf52cbc44');
});

test('lists for scripts hold texts, bytes and numbers of any size', () => {
  const long = 'ü€😀'.repeat(5000);
  const packed = packForLua(['', long, Buffer.from('bytes'), [1, 2 ** 53 - 1, [], ['x']]]);
  assert.deepEqual(unpack(packed), ['', long, 'bytes', [1, 2 ** 53 - 1, [], ['x']]]);
});

test('a list that cannot be packed leaves nothing in the next one', () => {
  assert.throws(() => packForLua(['first', null as never]), TypeError);
  assert.deepEqual(unpack(packForLua(['second'])), ['second']);
});

test('a list for scripts is in the shortest forms, as the packer of records writes it', () => {
  const sizes = [0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 255, 256, 257, 65_535, 65_536];
  for (const size of sizes) {
    for (const unit of ['a', 'é', '€', '😀']) {
      const texts = [unit.repeat(size), `${unit}${'a'.repeat(size)}`];
      assert.ok(packForLua(texts).equals(pack(texts)), `${size} times ${unit}`);
      assert.ok(packForLua(texts.map((text) => Buffer.from(text))).equals(pack(texts)), `bytes of ${unit}`);
    }
    const list = Array.from({ length: size }, () => '');
    assert.ok(packForLua(list).equals(pack(list)), `a list of ${size}`);
  }
});

test('an announcement comes back with its maps and marks', () => {
  const packed = pack([7, [['acme', 3]], [['acme', 2, 9]], Buffer.from('12345678')]);
  assert.deepEqual(decodeAnnouncement(packed), {
    checkpoint: 7,
    pendingRebuilds: new Map([['acme', 3]]),
    downstream: [{ tenant: 'acme', partition: 2, sequence: 9 }],
    digests: Buffer.from('12345678'),
  });
});

test('stamps in microseconds survive packing as they are', () => {
  const now = 1_763_721_690_123_456;
  assert.deepEqual(unpack(pack([now, Number.MAX_SAFE_INTEGER, 0, false, null])), [
    now,
    Number.MAX_SAFE_INTEGER,
    0,
    false,
    null,
  ]);
});
