import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack } from '../../../src/store/codec/pack.ts';
import { decodeAnnouncement } from '../../../src/store/streams/changes-stream.ts';

test('announcement: round-trips with its maps and invalidations', () => {
  const packed = pack([7, [['acme', 3]], [['acme', 2, 9]], Buffer.from('12345678'), [['other', 4]]]);
  assert.deepEqual(decodeAnnouncement(packed), {
    checkpoint: 7,
    pendingRebuilds: new Map([['acme', 3]]),
    downstream: [{ tenant: 'acme', partition: 2, sequence: 9 }],
    deferred: new Map([['other', 4]]),
    digests: Buffer.from('12345678'),
  });
});
