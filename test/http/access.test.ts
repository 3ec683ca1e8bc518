import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/config/types.ts';
import type { Json } from '../../src/contract/json.ts';
import { openapiDocument, problemShape } from '../../src/http/openapi.ts';
import type { RouteDefinition } from '../../src/http/route-definition.ts';
import { routeTable } from '../../src/http/route-table.ts';
import { mistakesOf } from '../../src/http/validate.ts';
import { startFront, type TestFront } from './support/front.ts';
import { apiKeys } from './support/site.ts';

let front: TestFront;
before(async () => {
  front = await startFront({ redisPort: 7134 });
});
after(() => front.stop());

interface Holder {
  readonly key: string | undefined;
  readonly kind: 'nobody' | 'source' | 'client';
  readonly scopes: readonly Scope[];
}

const all: readonly Scope[] = ['delivery', 'routes', 'query', 'source'];
const holders: readonly Holder[] = [
  { key: undefined, kind: 'nobody', scopes: [] },
  { key: 'no-such-key', kind: 'nobody', scopes: [] },
  { key: 'x'.repeat(5000), kind: 'nobody', scopes: [] },
  { key: apiKeys.source, kind: 'source', scopes: [] },
  { key: apiKeys.client, kind: 'client', scopes: all },
  { key: apiKeys.delivery, kind: 'client', scopes: ['delivery'] },
  { key: apiKeys.routes, kind: 'client', scopes: ['routes'] },
  { key: apiKeys.query, kind: 'client', scopes: ['query'] },
  { key: apiKeys.sourceQuery, kind: 'client', scopes: ['source'] },
];

function refusal({ access }: RouteDefinition, { kind, scopes }: Holder): 401 | 403 | null {
  if (access.kind === 'open') return null;
  if (kind === 'nobody') return 401;
  if (access.kind !== kind) return 403;
  return access.kind === 'client' && !scopes.includes(access.scope) ? 403 : null;
}

/** The shape that the document gives for an answer; undefined for a status that it does not name. */
function documentedShape(route: RouteDefinition, status: number) {
  const answer = route.answers[status];
  if (answer !== undefined) return answer.shape ?? null;
  if (status === 411 || route.problemStatuses.includes(status)) return problemShape(route, status);
  return undefined;
}

for (const route of routeTable) {
  test(`${route.method} ${route.path} lets in those it should, and answers as documented`, async () => {
    const path = route.path.replaceAll(/\{\w+\}/g, 'x');
    for (const holder of holders) {
      for (const body of route.body === undefined ? [undefined] : ['{', JSON.stringify(route.body.example)]) {
        const answer = await front.call(route.method.toUpperCase(), path, {
          ...(holder.key === undefined ? {} : { key: holder.key }),
          ...(body === undefined ? {} : { body }),
        });
        const expected = refusal(route, holder);
        if (expected !== null) assert.equal(answer.status, expected);
        else assert.ok(![401, 403].includes(answer.status));
        const shape = documentedShape(route, answer.status);
        assert.notEqual(shape, undefined, `${answer.status} is not documented`);
        if (shape) assert.deepEqual(mistakesOf(shape, answer.json as Json, 5), [], answer.text);
        assert.ok(holder.key === undefined || !answer.text.includes(holder.key), 'an answer shows no key');
      }
    }
  });
}

test('the examples of the document fit their shapes', () => {
  for (const { answers, body } of routeTable) {
    for (const { shape, example } of [...Object.values(answers), ...(body === undefined ? [] : [body])]) {
      if (shape !== undefined && example !== undefined) assert.deepEqual(mistakesOf(shape, example, 5), []);
    }
  }
});

test('the document names every endpoint, its key and its errors', async () => {
  const { json } = await front.call('GET', '/openapi.json');
  assert.deepEqual(json, JSON.parse(JSON.stringify(openapiDocument(['X-Acme']))));
  assert.equal(json.openapi, '3.1.0');
  for (const { path, method, problemStatuses, body } of routeTable) {
    const operation = json.paths[path][method];
    for (const status of [...problemStatuses, ...(body === undefined ? [] : [411])]) {
      assert.ok(operation.responses[status], `${method} ${path} ${status}`);
    }
  }
});

test('an unknown path is 404, a wrong method 405 with Allow', async () => {
  for (const path of ['/', '/v3', '/v2/', '/ingest/v2/a/b', '/v1']) {
    const { status, json } = await front.call('GET', path);
    assert.deepEqual([status, json.status], [404, 404], path);
  }
  for (const { path } of routeTable) {
    const { status, json, headers } = await front.call('PATCH', path.replaceAll(/\{\w+\}/g, 'x'));
    assert.deepEqual([status, json.status], [405, 405], path);
    const methods = routeTable
      .filter((route) => route.path === path)
      .map(({ method }) => method.toUpperCase());
    assert.equal(headers.get('allow'), methods.join(', '));
  }
});
