import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Claim, packClaim, unpackClaim, unpackServed } from '../../../src/store/claims/claim-records.ts';
import { pack, unpack } from '../../../src/store/codec/pack.ts';
import { textOfField } from '../../../src/store/keys.ts';
import { runs } from '../../support/runs.ts';

const text = fc.string({ unit: 'grapheme' });
const goesTo = fc.oneof(
  fc.constant({ kind: 'page' as const, redirect: null }),
  // A redirect that is only dropped does not contain its target.
  fc.option(text).map((redirect) => ({ kind: 'redirect' as const, redirect })),
);
const claimed = fc
  .record(
    {
      field: text.map((path) => `u:${path}`),
      host: fc.option(fc.domain()),
      goesTo,
      sinceStamp: fc.nat({ max: 2 ** 53 - 1 }),
      view: fc.record(
        { sourceId: fc.oneof(fc.uuid(), text), alias: text, originId: text },
        { noNullPrototype: true },
      ),
      display: fc.option(text),
    },
    { noNullPrototype: true },
  )
  .map(({ field, host, goesTo: { kind, redirect }, sinceStamp, view, display }) => {
    const claim: Claim = { host, kind, sinceStamp, view, display: display ?? textOfField(field), redirect };
    return { field, claim };
  });

test('claim records: any claim round-trips, alone and in the record of its field', () => {
  fc.assert(
    fc.property(claimed, ({ field, claim }) => {
      const stored = packClaim(field, claim);
      assert.deepEqual(unpackClaim(field, stored), claim);
      assert.deepEqual(unpackServed(field, stored), { claims: [claim], isContested: false, hasMore: false });
    }),
    { numRuns: runs(500) },
  );
});

test('claim records: the claims of a contested field round-trip, with the flag for further claims', () => {
  fc.assert(
    fc.property(fc.array(claimed, { maxLength: 4 }), fc.boolean(), (all, hasMore) => {
      const field = 'u:/here';
      const claims = all.map(({ claim }) => claim);
      const packed = claims.map((claim) => unpack<unknown>(packClaim(field, claim)));
      assert.deepEqual(unpackServed(field, pack([...packed, hasMore])), {
        claims,
        isContested: true,
        hasMore,
      });
    }),
    { numRuns: runs(200) },
  );
});

test('claim records: a page that is stored in its field, for all hosts, takes little more than its view and its age', () => {
  const view = { sourceId: '1f0923db-39e0-4bb9-89bc-8fc1c4346018', alias: 'city', originId: '128252' };
  const page: Claim = {
    host: null,
    kind: 'page',
    sinceStamp: 1_764_000_000_000_000,
    view,
    display: '/here',
    redirect: null,
  };
  assert.equal(packClaim('u:/here', page).length, 46);
});
