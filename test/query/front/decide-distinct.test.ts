import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatheredReply } from '../../../src/query/front/attempt.ts';
import { decideDistinct } from '../../../src/query/front/decide-distinct.ts';
import { encodeFirsts } from '../../../src/query/protocol/distinct-answer.ts';
import { encodeRefusal, RefusedQueryError } from '../../../src/query/protocol/refusal.ts';
import type { ShardQuery } from '../../../src/query/protocol/shard-request.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { pack, unpack } from '../../../src/store/codec/pack.ts';
import type { MessageBody } from '../../../src/store/streams/message-body.ts';
import { everything, shardOf, whole } from '../support/queries.ts';

const query: CheckedQuery = {
  ...everything,
  sort: [{ field: 'size', order: 'desc' }],
  distinct: { field: 'name', isForFacets: true, decided: null },
};
const index = { scope: { tenant: 't', environmentId: 'e' }, index: 'schema:things' };
const types = { name: 'keyword', size: 'integer' } as const;
const shards = [
  shardOf(types, { a: { name: 'mill', size: 1 }, b: { name: 'mill', size: 2 }, c: { name: 'rad', size: 1 } }),
  shardOf(types, { d: { name: 'mill', size: 3 }, e: { name: 'river', size: 1 }, f: { size: 9 } }),
];

/** Replies of workers with a partition each. @param commit number of the last commit of the first */
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

/** A scatter that gives prepared replies, and notes which items the workers were told. */
function scripted(script: readonly (readonly GatheredReply[])[]) {
  const told: (string[] | null)[] = [];
  const gather = async ([asked]: readonly ShardQuery[]): Promise<GatheredReply[]> => {
    assert.ok(asked?.question.kind === 'answer');
    const { distinct } = asked.question.query;
    told.push(distinct?.decided?.[0]?.map(({ value, originId }) => `${value} ${originId}`) ?? null);
    return [...(script[told.length - 1] ?? [])];
  };
  return { told, scatter: { gather } };
}

test('workers are told which items stand for the values that several of them have', async () => {
  const { told, scatter } = scripted([replies(['answer', 'answer'])]);
  const decided = await decideDistinct(scatter, { index, query }, replies(firsts()), 0);
  assert.deepEqual(told, [['mill d']]);
  assert.deepEqual(
    decided.replies.map(({ answers }) => answers),
    [['answer'], ['answer']],
  );
  assert.equal(decided.query.distinct?.decided?.length, 1);
});

test('a commit between the two questions makes both be asked again, a few times', async () => {
  const once = scripted([replies(['old', 'old'], 2), replies(firsts(), 2), replies(['new', 'new'], 2)]);
  const decided = await decideDistinct(once.scatter, { index, query }, replies(firsts()), 0);
  assert.deepEqual(once.told, [['mill d'], null, ['mill d']]);
  assert.deepEqual(decided.replies[0]?.answers, ['new']);
  const always = scripted(
    Array.from({ length: 10 }, (_, at) => replies(at % 2 === 0 ? ['x', 'x'] : firsts(), 2 + at)),
  );
  await decideDistinct(always.scatter, { index, query }, replies(firsts()), 0);
  assert.deepEqual(always.told, [['mill d'], null, ['mill d'], null, ['mill d']]);
});

test('nothing is asked without distinct, nor when one worker has everything', async () => {
  const { told, scatter } = scripted([]);
  const first = replies(['x', 'y']);
  assert.equal((await decideDistinct(scatter, { index, query: everything }, first, 0)).replies, first);
  const alone = replies(['x']);
  assert.equal((await decideDistinct(scatter, { index, query }, alone, 0)).replies, alone);
  const meanwhile = scripted([replies(['x', 'y'], 2), replies(['whole'])]);
  const { replies: left, query: asked } = await decideDistinct(
    meanwhile.scatter,
    { index, query },
    replies(firsts()),
    0,
  );
  assert.deepEqual([left[0]?.answers, asked.distinct?.decided], [['whole'], null]);
  assert.deepEqual(told, []);
});

test('a worker that refuses refuses for all', async () => {
  const { scatter } = scripted([]);
  const bodies = [...firsts().slice(1), encodeRefusal('too much')];
  await assert.rejects(decideDistinct(scatter, { index, query }, replies(bodies), 0), RefusedQueryError);
});
