import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Attempt, type GatheredReply } from '../../../src/query/front/attempt.ts';
import { encodeReply } from '../../../src/query/protocol/shard-reply.ts';
import type { MessageBody, Reply } from '../../../src/query/transport/messages.ts';

const lost: Reply = { kind: 'lost', reason: 'gone' };

/** A worker's reply for partitions, each under epoch 1. */
function replyFor(partitions: readonly number[], answers: readonly MessageBody[] | null = ['answer']): Reply {
  const covers = new Map(partitions.map((partition) => [partition, 1]));
  const held = { covers, applied: covers, configuration: null };
  return { kind: 'answer', body: encodeReply({ held, answers }) };
}

/** An attempt with two workers and two partitions. @returns its outcomes, one entry per outcome */
function begin(): { attempt: Attempt; ends: (readonly string[] | null)[] } {
  const ends: (readonly string[] | null)[] = [];
  const idsOf = (cover: GatheredReply[] | null) => cover?.map(({ workerId }) => workerId) ?? null;
  return { attempt: new Attempt(2, 2, (cover) => ends.push(idsOf(cover))), ends };
}

test('attempt: ends with the reply that completes the cover', () => {
  const { attempt, ends } = begin();
  attempt.take('a', replyFor([0]));
  assert.deepEqual(ends, []);
  attempt.take('b', replyFor([1]));
  assert.deepEqual(ends, [['a', 'b']]);
});

test('attempt: waits for no further reply once every partition is covered', () => {
  const { attempt, ends } = begin();
  attempt.take('a', replyFor([0, 1]));
  attempt.take('b', lost);
  assert.deepEqual(ends, [['a']]);
});

test('attempt: without a complete cover it ends with null when all have replied', () => {
  for (const last of [
    lost,
    null,
    replyFor([1], null),
    { kind: 'answer', body: 'of another version' } as const,
  ]) {
    const { attempt, ends } = begin();
    attempt.take('a', replyFor([0]));
    attempt.take('b', last);
    assert.deepEqual(ends, [null]);
  }
});

test('attempt: an abandoned attempt accepts no more replies', () => {
  const { attempt, ends } = begin();
  attempt.end(null);
  attempt.take('a', replyFor([0, 1]));
  attempt.end(null);
  assert.deepEqual(ends, [null]);
});
