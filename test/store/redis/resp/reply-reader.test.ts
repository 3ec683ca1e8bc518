import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProtocolError, ReplyReader } from '../../../../src/store/redis/resp/reply-reader.ts';
import { runs } from '../../../support/runs.ts';

type Reply = null | number | Buffer | Error | Reply[];

function wire(reply: Reply): Buffer {
  if (reply === null) return Buffer.from('$-1\r\n');
  if (typeof reply === 'number') return Buffer.from(`:${reply}\r\n`);
  if (reply instanceof Error) return Buffer.from(`-${reply.message}\r\n`);
  if (Array.isArray(reply)) return Buffer.concat([Buffer.from(`*${reply.length}\r\n`), ...reply.map(wire)]);
  return Buffer.concat([Buffer.from(`$${reply.length}\r\n`), reply, Buffer.from('\r\n')]);
}

const plain = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom('ERR no', 'WRONGTYPE Operation: é').map((message) => new Error(message)),
);
const reply: fc.Arbitrary<Reply> = fc.letrec<{ reply: Reply }>((tie) => ({
  reply: fc.oneof(plain, fc.array(tie('reply'), { maxLength: 4 })),
})).reply;

test('replies are the same however their bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 6 }), fc.array(fc.nat(300)), (replies, cuts) => {
      const bytes = Buffer.concat(replies.map(wire));
      const read: unknown[] = [];
      const reader = new ReplyReader((one) => read.push(one));
      let from = 0;
      for (const cut of [...cuts.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length]) {
        if (cut > from) reader.write(bytes.subarray(from, cut));
        from = cut;
      }
      assert.deepEqual(read, replies);
    }),
    { numRuns: runs(300) },
  );
});

test('a status is its text, a list of none is null', () => {
  const read: unknown[] = [];
  new ReplyReader((one) => read.push(one)).write(Buffer.from('+OK\r\n*-1\r\n'));
  assert.deepEqual(read, [Buffer.from('OK'), null]);
});

test('what is no reply is an error', () => {
  for (const text of ['hello\r\n', '*x\r\n', `-${'x'.repeat(70_000)}`]) {
    assert.throws(() => new ReplyReader(() => {}).write(Buffer.from(text)), ProtocolError, text.slice(0, 20));
  }
});
