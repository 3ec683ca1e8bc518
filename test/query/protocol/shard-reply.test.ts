import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeReply, encodeReply, type ShardReply } from '../../../src/query/protocol/shard-reply.ts';
import { pack, unpack } from '../../../src/store/codec/pack.ts';

const number = fc.integer({ min: 0, max: 2 ** 48 });
const partitions = fc.uniqueArray(fc.tuple(fc.nat(255), number, number), { selector: ([at]) => at });
const replies = fc.record({
  partitions,
  configuration: fc.option(fc.stringMatching(/^[0-9a-f]+$/)),
  answers: fc.option(fc.array(fc.uint8Array().map((bytes) => Buffer.from(bytes)))),
});

test('shard reply: a reply contains the state of the shards, and answers or their absence', () => {
  fc.assert(
    fc.property(replies, ({ partitions, configuration, answers }) => {
      const covers = new Map(partitions.map(([partition, epoch]) => [partition, epoch]));
      const applied = new Map(partitions.map(([partition, , commit]) => [partition, commit]));
      const reply: ShardReply = { held: { covers, applied, configuration }, answers };
      assert.deepEqual(decodeReply(unpack(pack(encodeReply(reply)))), reply);
    }),
  );
});

test('shard reply: a reply of another version is ignored', () => {
  for (const body of [null, 'reply', ['0,1,2 digest', null], []]) assert.equal(decodeReply(body), null);
});
