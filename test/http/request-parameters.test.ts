import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestOfBody, requestOfQuery } from '../../src/http/delivery/delivery-request.ts';
import { QueryParameters } from '../../src/http/request-parameters.ts';

test('query parameters: an empty value counts as absent, and a list keeps its order', () => {
  const parameters = new QueryParameters('id=b&id=&id=a&depth=');
  assert.deepEqual(parameters.all('id'), ['b', 'a']);
  assert.equal(parameters.one('depth'), null);
  assert.throws(() => new QueryParameters('id=%ff'), { message: /percent-encoded UTF-8/ });
});

test('query parameters: only those that are lists can be repeated', () => {
  const twice = { message: 'depth can be given only once' };
  assert.throws(() => new QueryParameters('depth=1&depth=2').one('depth'), twice);
  assert.throws(() => requestOfQuery('url=/a&depth=1&depth=2'), twice);
  assert.throws(
    () => requestOfBody('includeDuplicateViews=true&includeDuplicateViews=false', { ids: ['a'] }),
    { message: 'includeDuplicateViews can be given only once' },
  );
  assert.throws(() => requestOfQuery('url=/a&url=/b'), {
    message: 'Only one url query parameter is allowed',
  });
});
