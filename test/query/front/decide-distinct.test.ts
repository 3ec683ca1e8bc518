import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EntityRef } from '../../../src/contract/ids.ts';
import type { AskWorkers, GatheredReply } from '../../../src/query/front/attempt.ts';
import { decideDistinct } from '../../../src/query/front/decide-distinct.ts';
import { encodeFirsts, encodePlaces } from '../../../src/query/protocol/distinct-answer.ts';
import { encodeRefusal, RefusedQueryError } from '../../../src/query/protocol/shard-reply.ts';
import type { MessageBody } from '../../../src/query/transport/messages.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { pack, unpack } from '../../../src/store/codec/pack.ts';
import { everything, shardOf, whole } from '../support/queries.ts';

const query: CheckedQuery = {
  ...everything,
  sort: [{ field: 'size', order: 'desc' }],
  distinct: { field: 'name', isForFacets: true, beaten: null },
};
const types = { name: 'keyword', size: 'integer' } as const;
const shards = [
  shardOf(types, { a: { name: 'mill', size: 1 }, b: { name: 'mill', size: 2 }, c: { name: 'rad', size: 1 } }),
  shardOf(types, { d: { name: 'mill', size: 3 }, e: { name: 'river', size: 1 }, f: { size: 9 } }),
];

/** Replies of workers with one partition each. @param commit number of the last commit of the first */
function replies(bodies: readonly MessageBody[], commit = 1): GatheredReply[] {
  return bodies.map((body, partition) => ({
    workerId: `worker-${partition}`,
    covers: new Map([[partition, 1]]),
    applied: new Map([[partition, partition === 0 ? commit : 1]]),
    configuration: null,
    answers: [unpack(pack(body))],
  }));
}

const firsts = () => shards.map((shard) => whole(encodeFirsts(query, shard)));

/** Workers with prepared replies, which records the items sent to the workers. */
function scripted(script: readonly (readonly GatheredReply[])[]) {
  const sent: (readonly string[] | null)[] = [];
  const ask: AskWorkers = async (question) => {
    assert.ok(question.kind === 'answer');
    const { distinct } = question.query;
    sent.push(distinct?.beaten?.[0] ?? null);
    return [...(script[sent.length - 1] ?? [])];
  };
  return { sent, ask };
}

/** Items that are the first of their values on one worker, but not overall. */
const beaten = [JSON.stringify(['source', 'b'])];

test('decide distinct: workers learn which items do not represent the values that several workers have', async () => {
  const { sent, ask } = scripted([replies(['answer', 'answer'])]);
  const decided = await decideDistinct(ask, query, replies(firsts()));
  assert.deepEqual(sent, [beaten]);
  assert.deepEqual(
    decided.replies.map(({ answers }) => answers),
    [['answer'], ['answer']],
  );
  assert.deepEqual(decided.query.distinct?.beaten, [beaten]);
});

test('decide distinct: a commit between the two rounds repeats both, a few times', async () => {
  const once = scripted([replies(['old', 'old'], 2), replies(firsts(), 2), replies(['new', 'new'], 2)]);
  const decided = await decideDistinct(once.ask, query, replies(firsts()));
  assert.deepEqual(once.sent, [beaten, null, beaten]);
  assert.deepEqual(decided.replies[0]?.answers, ['new']);
  const always = scripted(
    Array.from({ length: 10 }, (_, at) => replies(at % 2 === 0 ? ['x', 'x'] : firsts(), 2 + at)),
  );
  await decideDistinct(always.ask, query, replies(firsts()));
  assert.deepEqual(always.sent, [beaten, null, beaten, null, beaten]);
});

test('decide distinct: both rounds are repeated if the partitions were grouped differently, or a copy was between commits', async () => {
  const both = new Map([
    [0, 1],
    [1, 1],
  ]);
  const none = new Map<number, number>();
  // One worker has taken over both partitions, and the other one has none.
  const beside = replies(['x', 'x']).map((reply, at) => {
    return { ...reply, covers: at === 0 ? both : none, applied: at === 0 ? both : none };
  });
  const between = replies(['x', 'x']).map((reply, partition) => ({
    ...reply,
    covers: new Map([[partition, 0]]),
  }));
  for (const meanwhile of [beside, between]) {
    const { sent, ask } = scripted([meanwhile, replies(firsts()), replies(['new', 'new'])]);
    const decided = await decideDistinct(ask, query, replies(firsts()));
    assert.deepEqual(sent, [beaten, null, beaten]);
    assert.deepEqual(decided.replies[0]?.answers, ['new']);
  }
});

test('decide distinct: no second round without distinct, or if one worker has everything', async () => {
  const { sent, ask } = scripted([]);
  const first = replies(['x', 'y']);
  assert.equal((await decideDistinct(ask, everything, first)).replies, first);
  const alone = replies(['x']);
  assert.equal((await decideDistinct(ask, query, alone)).replies, alone);
  const meanwhile = scripted([replies(['x', 'y'], 2), replies(['whole'])]);
  const { replies: left, query: asked } = await decideDistinct(meanwhile.ask, query, replies(firsts()));
  assert.deepEqual([left[0]?.answers, asked.distinct?.beaten], [['whole'], null]);
  assert.deepEqual(sent, []);
});

test('decide distinct: a refusal by one worker refuses the query', async () => {
  const { ask } = scripted([]);
  const bodies = [...firsts().slice(1), encodeRefusal('too much')];
  await assert.rejects(decideDistinct(ask, query, replies(bodies)), RefusedQueryError);
});

test('decide distinct: complete sort values are requested while the truncated ones do not determine the first', async () => {
  const sort = ['a', 'b', 'c', 'd', 'e'].map((field) => ({ field, order: 'asc' }) as const);
  const long = 'x'.repeat(4_200_000);
  const shards = [
    shardOf(
      { name: 'keyword', a: 'text', e: 'integer' },
      { p: { name: 'mill', a: `${long}1` }, q: { name: 'rad', e: 1 } },
    ),
    shardOf(
      { name: 'keyword', a: 'text', e: 'integer' },
      { r: { name: 'mill', a: `${long}0` }, s: { name: 'rad', e: 2 } },
    ),
  ];
  const asked: CheckedQuery = { ...query, sort };
  const places: (readonly EntityRef[])[] = [];
  let sent: CheckedQuery['distinct'] = null;
  const ask: AskWorkers = async (question) => {
    if (question.kind !== 'places') {
      sent = question.query.distinct;
      return replies(['answer', 'answer']);
    }
    const { rows } = question;
    places.push(rows);
    return replies(shards.map((shard) => whole(encodePlaces(asked, rows, shard))));
  };
  const firsts = shards.map((shard) => whole(encodeFirsts(asked, shard)));
  assert.ok(JSON.stringify(firsts).length < 1000);
  await decideDistinct(ask, asked, replies(firsts));
  assert.deepEqual(
    places.map((rows) => rows.map(({ originId }) => originId).join('')),
    ['prqs', 'rqs', 'qs'],
  );
  assert.deepEqual(sent, { ...query.distinct, beaten: [[JSON.stringify(['source', 'p', 's'])]] });
});
