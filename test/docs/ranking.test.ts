/** docs/guide/ranking.md: the worked example, and the validity of its queries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/contract/json.ts';
import { checkQuery } from '../../src/search/check/query.ts';
import type { FieldType } from '../../src/search/fields/field-type.ts';
import { Shard } from '../../src/search/shard/shard.ts';
import { naiveScorer } from '../search/support/naive-search.ts';
import { textOf } from './support/markdown.ts';

const guide = textOf('docs/guide/ranking.md');
const blocks = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map(
  ([, json = '']) => JSON.parse(json) as JsonObject,
);
const [titles = {}, ...queries] = blocks;
const rules = new Map([['title', { language: 'en', foldAccents: false } as const]]);
const texts = { rules, synonyms: [] };
const fields: ReadonlyMap<string, FieldType> = new Map([
  ...['title', 'name', 'brand', 'description', 'body'].map((name) => [name, 'text'] as const),
  ['sold', 'integer'],
  ['published', 'date'],
]);

test('ranking: the worked example has the scores that a search returns', () => {
  const shard = new Shard({ fields, texts });
  const items = Object.entries(titles).map(([originId, title]) => {
    return { partition: 0, sourceId: 's', originId, updatedAtMs: 0, fields: { title } };
  });
  for (const item of items) shard.upsert(item);
  const [, sent = ''] = /The search `(.*)` gives/.exec(guide) ?? [];
  const search = JSON.parse(sent);
  const checked = checkQuery({ search }, { fields, isOpen: false, isSchemaAlias: null });
  assert.ok(checked.ok);
  const found = shard.query(checked.query).rows.map(({ place, score }) => [place.originId, score] as const);
  const published = [...guide.matchAll(/^\| (\w) \| (\d\.\d{3}) \|$/gm)].map(([, id, score]) => [id, score]);
  assert.deepEqual(
    found.map(([id, score]) => [id, score.toFixed(3)]),
    published,
  );
  const scoreOf = naiveScorer(search, items, texts);
  for (const item of items) assert.equal(scoreOf(item), new Map(found).get(item.originId) ?? null);
});

test('ranking: the queries of the guide are valid', () => {
  assert.equal(queries.length, 3);
  for (const query of queries) {
    const checked = checkQuery(query, { fields, isOpen: false, isSchemaAlias: null });
    assert.ok(checked.ok, checked.ok ? '' : checked.errors.join('\n'));
  }
});
