/** docs/reference/http.md "References in an answer" over HTTP: their maximum depth, and what happens if there are too many. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import { QueryTenant } from '../support/query-tenant.ts';
import { clientKey, environmentId, sourceId } from '../support/site.ts';

const managementKey = 'manage';
const shallowKey = 'shallow';
const client = { environment: 'production', domains: ['site'] };
const article = {
  triggers: { cms: ['article'] },
  route: { url: '{url}', handles: ['{originId}'] },
  properties: {
    title: '{p.title}',
    next: { type: 'reference', alias: 'article', originId: '{p.next}' },
    related: {
      type: 'array',
      input: '{p.related}',
      items: { type: 'reference', alias: 'article', originId: '{item}' },
    },
  },
};
const index = {
  triggers: { cms: ['article'] },
  properties: { title: '{p.title}' },
  index: { fields: { title: { type: 'keyword' } } },
};
const tenant = new QueryTenant(
  'references',
  {
    schemas: { article },
    indexes: { articles: index },
    settings: {
      environmentClients: [
        { ...client, name: 'website', apiKeys: [clientKey] },
        { ...client, name: 'lists', depth: 1, apiKeys: [shallowKey] },
      ],
      managementClients: [{ name: 'people', apiKeys: [managementKey] }],
    },
  },
  {},
);

const viewId = (originId: string) =>
  `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/article`;

async function save(originId: string, properties: object): Promise<void> {
  const body = { type: 'article', url: `/${originId}`, properties: { title: originId, ...properties } };
  const { status, text } = await tenant.send('POST', `/ingest/v2/${originId}`, body);
  assert.equal(status, 200, text);
}

/** A chain of four articles, and seven that reference each other. */
async function saveAll(): Promise<void> {
  for (const [originId, next] of [['a', 'b'], ['b', 'c'], ['c', 'd'], ['d']] as const) {
    await save(originId, { next });
  }
  const seven = Array.from({ length: 7 }, (_, at) => `of-seven-${at}`);
  for (const originId of seven)
    await save(originId, { related: seven.filter((other) => other !== originId) });
  await tenant.settle();
}
const saved = (() => {
  let saving: Promise<void> | null = null;
  return () => {
    saving ??= saveAll();
    return saving;
  };
})();

test('references: those deeper than `depth` are null and listed; without a depth nothing is cut or listed', async () => {
  await saved();
  const whole = await tenant.get('/v2?url=/a');
  assert.equal(whole.json.route.next.next.next.title, 'd');
  assert.equal('cutViewReferences' in whole.json.meta, false);
  for (const [depth, path, id] of [
    [0, 'route.next', 'b'],
    [1, 'route.next.next', 'c'],
    [2, 'route.next.next.next', 'd'],
  ] as const) {
    const { json } = await tenant.get(`/v2?url=/a&depth=${depth}`);
    assert.deepEqual(json.meta.cutViewReferences, [{ path, viewId: viewId(id) }]);
    assert.deepEqual(json.meta.missingViewReferences, []);
  }
  const deep = await tenant.get('/v2?url=/a&depth=100');
  assert.deepEqual(deep.json.meta.cutViewReferences, []);
  assert.deepEqual(deep.json.route, whole.json.route);
  const wrapped = await tenant.get('/v1?url=/a&depth=0');
  assert.deepEqual(wrapped.json.route.next, { id: viewId('b'), view: null, type: 'ViewReference' });
  assert.deepEqual(wrapped.json.meta.cutViewReferences, [{ path: 'route.next', viewId: viewId('b') }]);
});

test('references: a POST has `depth` in its body, and an invalid depth is 422', async () => {
  await saved();
  const { json } = await tenant.ask({ handles: ['a'], depth: 1 }, '/v2');
  assert.equal(json.views.a.next.title, 'b');
  assert.deepEqual(json.meta.cutViewReferences, [{ path: "views['a'].next.next", viewId: viewId('c') }]);
  for (const depth of [-1, 101, 1.5, '1']) {
    assert.equal((await tenant.ask({ handles: ['a'], depth }, '/v2')).status, 422, String(depth));
  }
  for (const depth of ['-1', '101', '1.5', 'x', '1e1']) {
    const { status, json: problem } = await tenant.get(`/v2?url=/a&depth=${depth}`);
    assert.equal(status, 422, depth);
    assert.equal(problem.message, 'depth must be a whole number from 0 to 100');
  }
});

test('references: the `depth` of a client applies if a request has none, also to the views of a query', async () => {
  await saved();
  const { json } = await tenant.get('/v2?url=/a', shallowKey);
  assert.equal(json.route.next.next, null);
  assert.deepEqual(json.meta.cutViewReferences, [{ path: 'route.next.next', viewId: viewId('c') }]);
  const asked = await tenant.get('/v2?url=/a&depth=2', shallowKey);
  assert.equal(asked.json.route.next.next.title, 'c');
  const query = {
    filters: { and: [{ field: 'title', operator: 'equals', value: 'a' }] },
    aliases: ['article'],
  };
  const { json: found } = await tenant.ask(query, '/v1/articles', shallowKey);
  assert.equal(found.results[0]._views.article.next.next, null);
  assert.equal(found.results[0]._views.article.next.title, 'b');
});

test('references: an answer with a depth stays current when its content changes', async () => {
  await saved();
  const titles = async () => {
    const { json } = await tenant.get('/v2?url=/a&depth=1');
    return [json.route.title, json.route.next.title];
  };
  assert.deepEqual(await titles(), ['a', 'b']);
  await save('b', { title: 'B', next: 'c' });
  await until('the answer shows the change', async () => (await titles()).join() === 'a,B');
  await save('b', { next: 'c' });
  await until('the answer shows the next change', async () => (await titles()).join() === 'a,b');
});

test('references: if there are too many, the error names schema and property, the view has a diagnostic, and a depth helps', async () => {
  await saved();
  const { status, json } = await tenant.get('/v2?url=/of-seven-3');
  assert.equal(status, 422);
  assert.match(
    json.message,
    /more than 10,000 references.*`related` of the schema `article`.*set a `depth`.*queries/,
  );
  const answer = await tenant.get('/v2?url=/of-seven-3&depth=2');
  assert.equal(answer.status, 200);
  assert.equal(answer.json.meta.cutViewReferences.length, 6 * 5 * 6);
  const { json: page } = await tenant.get('/management/v1/diagnostics?first=100', managementKey);
  const [found, ...others] = page.diagnostics.filter(({ kind }: { kind: string }) => kind === 'limitReached');
  assert.deepEqual(others, []);
  assert.equal(found.count, 7);
  assert.equal(found.schema, 'article');
  assert.match(found.message, /more than 10000 references, most of them in the property `related`/);
});
