import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/contract/json.ts';
import type { AskWorkers } from '../../../src/query/front/attempt.ts';
import { decodedAnswers, mergedRows } from '../../../src/query/front/merged-rows.ts';
import type { ShardQuestion } from '../../../src/query/protocol/shard-request.ts';
import { answerQuestion } from '../../../src/query/worker/answer-question.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { pack, unpack } from '../../../src/store/codec/pack.ts';
import { everything, shardOf, whole } from '../support/queries.ts';

const scope = { tenant: 'mill', environmentId: 'environment' };
const index = 'schema:things';
const options = { secret: createSecretKey(Buffer.alloc(32)), hasAllPartitions: false };

/** Its texts are too long to be sent in the first round. */
const onlyShown: CheckedQuery = {
  ...everything,
  filter: { kind: 'condition', field: 'state', operator: 'equals', value: 'shown', caseInsensitive: false },
};
const laterPage: CheckedQuery = {
  ...onlyShown,
  offset: 1,
  highlight: { fields: ['name'], before: '<', after: '>', length: null },
};

/** Two workers with an item each, whose texts are requested in a second round. */
function workers(nameLength: number) {
  const name = 'x'.repeat(nameLength);
  const item = (state: string): JsonObject => ({ name, state });
  const shards = ['a', 'b'].map((id) => shardOf({ name: 'text', state: 'keyword' }, { [id]: item('shown') }));
  const ask: AskWorkers = async (question) =>
    shards.map((shard, partition) => ({
      workerId: `worker-${partition}`,
      covers: new Map([[partition, 1]]),
      applied: new Map([[partition, 1]]),
      configuration: null,
      answers: [unpack(pack(whole(answerQuestion({ scope, index, question }, shard, options))))],
    }));
  /** Changes an item without a new time, as a lookup does. */
  const change = (state: string) =>
    shards[1]?.upsert({
      partition: 0,
      sourceId: 'source',
      originId: 'b',
      updatedAtMs: 1000,
      fields: item(state),
    });
  return { ask, change };
}

async function pageAfter(query: CheckedQuery, nameLength: number, state: string) {
  const { ask, change } = workers(nameLength);
  const question: ShardQuestion = { kind: 'answer', query, isText: false };
  const answers = await decodedAnswers((await ask(question)).map(({ answers: [body = null] }) => body));
  assert.ok(answers.every(({ rows }) => rows.every((row) => 'text' in row && row.text === null)));
  change(state);
  const merged = await mergedRows(ask, { index, query }, answers, Number.POSITIVE_INFINITY);
  return merged?.rows.map(({ text }) => JSON.parse(text.toString()).state) ?? null;
}

test('merged rows: a row that changed before its text was requested is not shown as it is now', async () => {
  for (const [query, nameLength] of [
    [onlyShown, 1_100_000],
    [laterPage, 1],
  ] as const) {
    assert.equal(await pageAfter(query, nameLength, 'hidden'), null);
    const unchanged = await pageAfter(query, nameLength, 'shown');
    assert.deepEqual(unchanged, query.offset === 0 ? ['shown', 'shown'] : ['shown']);
  }
});
