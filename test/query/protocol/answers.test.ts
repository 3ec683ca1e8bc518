/** The kinds of worker answers: rows to merge, complete results, counts and texts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countsLength,
  decodeCounts,
  decodeTexts,
  encodeCounts,
} from '../../../src/query/protocol/further-answers.ts';
import {
  decodeAnswer,
  decodeWholeAnswer,
  encodeAnswer,
  encodeWholeAnswer,
  facetsLength,
} from '../../../src/query/protocol/row-answer.ts';
import {
  encodeRefusal,
  facetsTooLarge,
  pageTooLarge,
  RefusedQueryError,
} from '../../../src/query/protocol/shard-reply.ts';
import type { MessageBody } from '../../../src/query/transport/messages.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { pack, unpack } from '../../../src/store/codec/pack.ts';
import { everything, facetOf, shardOf, whole } from '../support/queries.ts';

const index = 'schema:things';
const shard = shardOf(
  { name: 'keyword', size: 'integer' },
  { a: { name: 'river', size: 1 }, b: { name: 'mill', size: 2 }, 'c\ud800': { name: 'mill', size: 3 } },
);
const paged: CheckedQuery = { ...everything, offset: 1, pageSize: 1, facets: [facetOf('name')] };
const seal = () => 'token';

function sent(body: MessageBody): MessageBody {
  return unpack(pack(body));
}

function rowsOf(query: CheckedQuery, hasAllPartitions: boolean) {
  return decodeAnswer(sent(whole(encodeAnswer(shard.query(query), { index, query, hasAllPartitions }))));
}

test('answers: rows keep their positions, texts and all groups', () => {
  const { total, rows, facets } = rowsOf(paged, false);
  assert.equal(total, 3);
  assert.deepEqual(
    rows.map(({ place }) => place),
    shard.query(paged).rows.map(({ place }) => place),
  );
  assert.equal(JSON.parse(rows[1]?.text?.toString() ?? '').name, 'mill');
  assert.deepEqual(facets, shard.query(paged).facets);
});

test('answers: a single worker leaves out the rows before the page', () => {
  assert.deepEqual(
    rowsOf(paged, true).rows.map(({ place }) => place.originId),
    ['b'],
  );
});

test('answers: with several workers, long texts are left for a second request', () => {
  const items = Object.fromEntries([1, 2, 3].map((n) => [`long-${n}`, { name: 'x'.repeat(500_000) }]));
  const long = shardOf({ name: 'keyword' }, items);
  const answer = long.query(everything);
  const terms = { index, query: everything };
  const ofSeveral = decodeAnswer(sent(whole(encodeAnswer(answer, { ...terms, hasAllPartitions: false }))));
  assert.deepEqual(
    ofSeveral.rows.map(({ text }) => text),
    [null, null, null],
  );
  assert.ok(ofSeveral.rows.every(({ textBytes }) => textBytes > 500_000));
  const texts = answer.rows.map(({ fieldsBytes }) => fieldsBytes);
  assert.deepEqual(decodeTexts(sent([...texts, null])), [...texts, null]);
});

test('answers: a whole result equals that of its rows, with a token after a full page', () => {
  const text = decodeWholeAnswer(
    sent(whole(encodeWholeAnswer(shard.query(paged), { index, query: paged }, seal))),
  );
  const { rows } = rowsOf(paged, true);
  assert.equal(
    text?.toString(),
    `{"status":0,"totalResults":3,"results":[${rows.map((row) => row.text).join()}],"facets":[` +
      '{"name":"name","field":"name","groups":[{"value":"mill","count":2},{"value":"river","count":1}],' +
      '"isValid":true}],"nextPageToken":"token"}',
  );
  assert.equal(decodeWholeAnswer(encodeRefusal('why')), null);
});

test('answers: a page that is not full has no token', () => {
  const body = whole(encodeWholeAnswer(shard.query(everything), { index, query: everything }, seal));
  assert.equal(JSON.parse(decodeWholeAnswer(body)?.toString() ?? '').nextPageToken, null);
});

test('answers: counts are stored, and a refusal is thrown when the answer is read', () => {
  const counts = [whole(shard.counts({ ...everything, facets: [facetOf('name')] }, 0, ['mill']))];
  const body = sent(whole(encodeCounts(counts)));
  assert.deepEqual([...decodeCounts(body, 0)], [{ groups: counts[0]?.groups, scale: undefined }]);
  assert.ok(countsLength(body) > 10);
  for (const decode of [decodeAnswer, countsLength]) {
    assert.throws(() => decode(sent(encodeRefusal('too much'))), new RefusedQueryError('too much'));
  }
  assert.equal(facetsLength(encodeRefusal('too much')), 0);
});

test('answers: a page that is too large is refused in every form', () => {
  const items = Object.fromEntries(
    Array.from({ length: 45 }, (_, n) => [`large-${n}`, { name: `${n}`.repeat(500_000) }]),
  );
  const large = shardOf({ name: 'keyword' }, items);
  const facets = { ...everything, pageSize: 0, facets: [facetOf('name', 100)] };
  for (const [query, why] of [
    [everything, pageTooLarge],
    [facets, facetsTooLarge],
  ] as const) {
    const answer = large.query(query);
    const alone = { index, query, hasAllPartitions: true };
    assert.deepEqual(whole(encodeAnswer(answer, alone)), encodeRefusal(why));
    assert.deepEqual(whole(encodeWholeAnswer(answer, alone, seal)), encodeRefusal(why));
  }
});
