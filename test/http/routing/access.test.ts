import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openapiDocument, problemShape } from '../../../src/http/routing/openapi/openapi-document.ts';
import { routeTable } from '../../../src/http/routing/route-table.ts';
import { validate } from '../../../src/http/routing/validate.ts';
import { startFront, type TestFront } from '../support/front.ts';

let front: TestFront;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

test('access: the examples of the document fit their shapes', () => {
  for (const { answers, body } of routeTable) {
    for (const { shape, example } of [...Object.values(answers), ...(body === undefined ? [] : [body])]) {
      if (shape !== undefined && example !== undefined) assert.deepEqual(validate(shape, example, 5), []);
    }
  }
});

test('access: the document names every endpoint, its key and its errors', async () => {
  const { json } = await front.call('GET', '/openapi.json');
  assert.deepEqual(json, JSON.parse(JSON.stringify(openapiDocument(['X-Acme']))));
  assert.equal(json.openapi, '3.1.0');
  for (const route of routeTable) {
    const { path, method, problemStatuses, body } = route;
    const operation = json.paths[path][method];
    for (const status of [...problemStatuses, ...(body === undefined ? [] : [411, 415])]) {
      if (problemShape(route, status) === null) {
        assert.match(
          operation.description,
          new RegExp(`${status}.*plain text`),
          `${method} ${path} ${status}`,
        );
        continue;
      }
      assert.ok(operation.responses[status], `${method} ${path} ${status}`);
    }
  }
});

test('access: an unknown path is 404, a wrong method 405 with Allow', async () => {
  for (const path of ['/', '/v3', '/v2/', '/ingest/v2/a/b', '/v1x', '/v1/a/b']) {
    const { status, json } = await front.call('GET', path);
    assert.deepEqual([status, json.status], [404, 404], path);
  }
  for (const { path } of routeTable) {
    const { status, json, headers } = await front.call('PATCH', path.replaceAll(/\{\w+\}/g, 'x'));
    assert.deepEqual([status, json.status], [405, 405], path);
    const methods = routeTable
      .filter((route) => route.path === path)
      .flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    assert.equal(headers.get('allow'), methods.join(', '));
  }
});
