import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { Shard } from '../../../src/search/shard/shard.ts';
import type { ShardAnswer } from '../../../src/search/shard-answer.ts';
import { closedTo, queryOf } from '../support/checks.ts';
import { naiveScorer } from '../support/naive-search.ts';

function checked(fields: ReadonlyMap<string, FieldType>, body: Json): CheckedQuery {
  return queryOf(body, { ...closedTo(fields), isOpen: true });
}

function itemOf(originId: string, fields: JsonObject, partition = 0): IndexItem {
  return { partition, sourceId: 's', originId, updatedAtMs: 1, fields };
}

/** A shard of one field, with an item for each value, numbered from 0. */
function shardOf(type: FieldType, values: readonly Json[]): (body: Json) => ShardAnswer {
  const fields = new Map([['f', type]]);
  const shard = new Shard({ fields });
  for (const [at, value] of values.entries())
    shard.upsert(itemOf(String(at), value === null ? {} : { f: value }));
  return (body) => shard.query(checked(fields, body));
}

function idsOf({ rows }: ShardAnswer): string[] {
  return rows.map(({ place }) => place.originId);
}

test('shard: rare words and exact ones are first; ties are ordered by originId', () => {
  const texts = ['red hause', 'house', 'rad house', 'housed', 'red house', 'red', 'green', 'red'];
  const answer = shardOf('text', texts)({ search: { field: 'f', value: 'red house' } });
  assert.deepEqual(idsOf(answer), ['4', '1', '2', '5', '7', '0', '3']);
  const items = texts.map((text, at) => itemOf(String(at), { f: text }));
  const scoreOf = naiveScorer({ field: 'f', value: 'red house' }, items);
  assert.deepEqual(
    answer.rows.map(({ score }) => score),
    idsOf(answer).map((id) => scoreOf(itemOf(id, { f: texts[Number(id)] ?? '' }))),
  );
});

test('shard: a literal search has no fuzziness but still matches any word', () => {
  const ask = shardOf('text[]', [['red house'], ['hause'], ['a', 'House']]);
  assert.deepEqual(idsOf(ask({ search: { field: 'f', value: 'red HOUSE', literal: true } })), ['0', '2']);
  assert.equal(ask({ search: { field: 'f', value: 'hause' } }).total, 3);
  assert.equal(ask({ search: { field: 'f', value: '!?' } }).total, 0);
});

test('shard: repeated words find the items added and removed since', () => {
  const fields = new Map<string, FieldType>([['f', 'text']]);
  const shard = new Shard({ fields });
  const found = () => idsOf(shard.query(checked(fields, { search: { field: 'f', value: 'hause' } }))).sort();
  const put = (originId: string, text: string) => shard.upsert(itemOf(originId, { f: text }));
  put('a', 'house');
  assert.deepEqual(found(), ['a']);
  put('b', 'house');
  put('c', 'mause');
  assert.deepEqual(found(), ['a', 'b', 'c']);
  for (const originId of ['a', 'b', 'c']) shard.remove('s', originId);
  assert.deepEqual(found(), []);
  // Enough that the lists of removed docs are swept.
  for (let number = 0; number < 500; number += 1) put(`other ${number}`, `word${number}`);
  for (let number = 0; number < 500; number += 1) shard.remove('s', `other ${number}`);
  put('d', 'house');
  assert.deepEqual(found(), ['d']);
  put('d', 'pause');
  assert.deepEqual(found(), ['d']);
});

test('shard: a swap of adjacent letters is one edit, and short words allow none', () => {
  const ask = shardOf('keywordText', ['ab', 'abc', 'abcdef']);
  assert.deepEqual(idsOf(ask({ search: { field: 'f', value: 'ba' } })), []);
  assert.deepEqual(idsOf(ask({ search: { field: 'f', value: 'bac' } })), ['1']);
  assert.deepEqual(idsOf(ask({ search: { field: 'f', value: 'badcef' } })), ['2']);
});

test('shard: longs keep every digit when compared, sorted, faceted and returned', () => {
  const values = [
    '9007199254740993',
    '9007199254740992',
    9007199254740991,
    '9223372036854775807',
    '-9223372036854775808',
  ];
  const ask = shardOf('long', values);
  const sorted = ask({ sort: [{ field: 'f', order: 'desc' }] });
  assert.deepEqual(
    sorted.rows.map(({ fieldsBytes }) => JSON.parse(fieldsBytes.toString()).f),
    ['9223372036854775807', '9007199254740993', '9007199254740992', 9007199254740991, '-9223372036854775808'],
  );
  const where = (operator: string, value: Json): string[] =>
    idsOf(ask({ filters: { and: [{ field: 'f', operator, value }] }, sort: [{ field: '_originId' }] }));
  assert.deepEqual(where('equals', '9007199254740993'), ['0']);
  assert.deepEqual(where('greaterThan', '9007199254740992'), ['0', '3']);
  assert.deepEqual(where('lessThan', 9007199254740992), ['2', '4']);
  assert.deepEqual(where('in', ['9223372036854775807', 9007199254740991]), ['2', '3']);
  assert.deepEqual(where('greaterThan', 1e300), []);
  assert.deepEqual(
    ask({ facets: [{ field: 'f' }] }).facets[0]?.groups.map(({ value }) => value),
    ['-9223372036854775808', 9007199254740991, '9007199254740992', '9007199254740993', '9223372036854775807'],
  );
});

test('shard: absent values sort last in both orders, lists by their smallest or largest item', () => {
  const ask = shardOf('integer[]', [[5, 1], null, [3], [], [4, 2]]);
  assert.deepEqual(idsOf(ask({ sort: [{ field: 'f' }] })), ['0', '4', '2', '1', '3']);
  assert.deepEqual(idsOf(ask({ sort: [{ field: 'f', order: 'desc' }] })), ['0', '4', '2', '1', '3']);
});

test('shard: a range matches if a value is in it, or part of it meets the condition', () => {
  const ask = shardOf('integerRange', [{ gte: 1, lt: 5 }, { gt: 4 }, { lte: 0 }, null, { gt: 3, lt: 4 }]);
  const where = (operator: string, value: Json): string[] =>
    idsOf(ask({ filters: { and: [{ field: 'f', operator, value }] }, sort: [{ field: '_originId' }] }));
  assert.deepEqual(where('equals', 4), ['0']);
  assert.deepEqual(where('equals', 5), ['1']);
  assert.deepEqual(where('in', [0, 1]), ['0', '2']);
  assert.deepEqual(where('notEquals', 4), ['1', '2', '3', '4']);
  assert.deepEqual(where('greaterThan', 4), ['1']);
  assert.deepEqual(where('greaterThanOrEquals', 4), ['0', '1']);
  assert.deepEqual(where('lessThan', 1), ['2']);
  assert.deepEqual(where('equals', null), ['3']);
});

test('shard: facet counts are exact and ordered by count, then value; a list counts an item once', () => {
  const ask = shardOf('keyword[]', [['a', 'b', 'a'], ['b', '😀'], ['\uffff'], null]);
  assert.deepEqual(ask({ facets: [{ field: 'f' }] }).facets[0]?.groups, [
    { value: 'b', count: 2 },
    { value: 'a', count: 1 },
    { value: '\uffff', count: 1 },
    { value: '😀', count: 1 },
  ]);
});

test('shard: fields named like members of Object.prototype are ordinary fields', () => {
  const fields = new Map<string, FieldType>([
    ['__proto__', 'keyword'],
    ['constructor', 'integer'],
  ]);
  const shard = new Shard({ fields });
  shard.upsert(itemOf('1', JSON.parse('{"__proto__": "x", "constructor": 5}') as JsonObject));
  shard.upsert(itemOf('2', {}));
  const body = JSON.parse(
    '{"filters": {"and": [{"field": "__proto__", "operator": "equals", "value": "x"}]}}',
  ) as Json;
  const answer = shard.query(checked(fields, body));
  assert.deepEqual(idsOf(answer), ['1']);
  assert.equal(answer.rows[0]?.fieldsBytes.toString(), '{"__proto__":"x","constructor":5}');
});

test('shard: the same originId in several sources is several items', () => {
  const fields = new Map<string, FieldType>();
  const shard = new Shard({ fields });
  for (const sourceId of ['b', 'a']) shard.upsert({ ...itemOf('1', { sourceId }), sourceId });
  assert.equal(shard.size, 2);
  assert.deepEqual(
    shard.query(checked(fields, {})).rows.map(({ place }) => place.sourceId),
    ['a', 'b'],
  );
  assert.ok(shard.remove('a', '1'));
  assert.ok(!shard.remove('a', '1'));
  assert.equal(shard.size, 1);
});

test('shard: an item whose value no longer fits its field is kept, but the value is not searched', () => {
  const ask = shardOf('integer', ['text', 5]);
  assert.equal(ask({}).total, 2);
  assert.deepEqual(idsOf(ask({ filters: { and: [{ field: 'f', operator: 'notEquals', value: null }] } })), [
    '1',
  ]);
});

test('shard: years of changes leave a shard as small and as correct as a fresh one', () => {
  const fields = new Map<string, FieldType>([
    ['t', 'text'],
    ['k', 'keyword[]'],
    ['n', 'double'],
  ]);
  const shard = new Shard({ fields });
  const kept = new Map<string, IndexItem>();
  let seed = 42;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  let bytesEarly = 0;
  for (let round = 0; round < 40_000; round += 1) {
    const originId = String(random(500));
    if (random(10) === 0) {
      shard.remove('s', originId);
      kept.delete(originId);
    } else {
      const words = Array.from({ length: 5 }, () => `word${random(300)} only${round}`).join(' ');
      const changed = itemOf(originId, { t: words, k: [`k${random(20)}`, `k${random(20)}`], n: random(50) });
      shard.upsert(changed);
      kept.set(originId, changed);
    }
    if (round === 10_000) bytesEarly = shard.bytes;
  }
  const fresh = new Shard({ fields });
  for (const each of kept.values()) fresh.upsert(each);
  assert.ok(shard.bytes < bytesEarly * 1.5, `${bytesEarly} bytes grew to ${shard.bytes}`);
  for (const value of ['word1', 'word12 word299', 'wrod250']) {
    const asked = checked(fields, {
      search: { field: 't', value },
      facets: [{ field: 'k' }, { field: 'n' }],
    });
    assert.equal(JSON.stringify(shard.query(asked)), JSON.stringify(fresh.query(asked)));
  }
});

test('shard: a dropped partition is gone, and its ids are reused', () => {
  const fields = new Map<string, FieldType>([['t', 'text']]);
  const shard = new Shard({ fields });
  for (let round = 0; round < 5; round += 1) {
    for (let at = 0; at < 3000; at += 1)
      shard.upsert(itemOf(String(at), { t: `word${at} round${round}` }, at % 2));
    runSync(shard.dropPartition(0));
    assert.equal(shard.size, 1500);
    assert.equal(
      shard.query(checked(fields, { search: { field: 't', value: `round${round}`, literal: true } })).total,
      1500,
    );
  }
  runSync(shard.dropPartition(1));
  assert.equal(shard.size, 0);
  assert.equal(shard.query(checked(fields, { search: { field: 't', value: 'word1' } })).total, 0);
});
