import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientPrincipal } from '../../../src/config/configuration.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { client, issuesOf, load, site } from '../support/loading.ts';

function clientWith(changes: JsonObject): ClientPrincipal {
  const [only] = load(site({ environmentClients: [client(changes)] })).clients;
  assert.ok(only !== undefined);
  return only;
}

const clientOf = (...indexes: string[]) => clientWith({ indexes });

test('index patterns: a client can query every index, unless patterns restrict that kind of index', () => {
  for (const open of [clientWith({}), clientOf()]) {
    assert.ok(open.indexes.allowsIndex('blog') && open.indexes.allowsType('cms', 'page'));
  }
  const indexes = clientOf('blog*', 'news');
  for (const alias of ['blog', 'blogPosts', 'news']) assert.ok(indexes.indexes.allowsIndex(alias), alias);
  for (const alias of ['Blog', 'myblog', 'newsletter', ''])
    assert.ok(!indexes.indexes.allowsIndex(alias), alias);
  assert.ok(indexes.indexes.allowsType('cms', 'page'), 'a kind without a pattern is not restricted');

  const types = clientOf('cms:*', 'shop:product*', '*:public', 'pim:a:b');
  for (const [group, type] of [
    ['cms', 'page'],
    ['shop', 'product'],
    ['shop', 'productGroup'],
    ['any', 'public'],
    ['pim', 'a:b'],
  ] as const) {
    assert.ok(types.indexes.allowsType(group, type), `${group}:${type}`);
  }
  for (const [group, type] of [
    ['cms2', 'page'],
    ['shop', 'order'],
    ['pim', 'a'],
    ['', 'page'],
  ] as const) {
    assert.ok(!types.indexes.allowsType(group, type), `${group}:${type}`);
  }
  assert.ok(types.indexes.allowsIndex('blog'));
  const both = clientOf('blog', 'cms:page').indexes;
  assert.deepEqual([both.allowsIndex('news'), both.allowsType('cms', 'news')], [false, false]);
});

test('index patterns: a pattern that cannot match anything is an error', () => {
  for (const pattern of ['', 'a b', 'cms:', ':page', 'blög*', 'a/b', 'c ms:page']) {
    const [issue, ...others] = issuesOf(site({ environmentClients: [client({ indexes: [pattern] })] }));
    assert.equal(issue?.path, '$.environmentClients[0].indexes[0]', pattern);
    assert.deepEqual(others, []);
  }
  for (const indexes of ['blog*', [5], [null], {}] as Json[]) {
    assert.equal(issuesOf(site({ environmentClients: [client({ indexes })] })).length, 1);
  }
});

test('index patterns: scopes can have the names of the hosted service, whose Query includes source groups', () => {
  const scopesOf = (...scopes: string[]) => [...clientWith({ scopes }).scopes].sort();
  assert.deepEqual(scopesOf('Delivery'), ['delivery']);
  assert.deepEqual(scopesOf('Routes'), ['routes']);
  assert.deepEqual(scopesOf('Query'), ['query', 'source']);
  assert.deepEqual(scopesOf('query'), ['query']);
  assert.deepEqual(scopesOf('Delivery', 'routes', 'Query', 'delivery'), [
    'delivery',
    'query',
    'routes',
    'source',
  ]);
  for (const scope of ['DELIVERY', 'Source', 'MCP']) {
    const [issue] = issuesOf(site({ environmentClients: [client({ scopes: [scope] })] }));
    assert.equal(issue?.path, '$.environmentClients[0].scopes[0]', scope);
  }
});
