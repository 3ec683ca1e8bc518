import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeRequest,
  encodeRequest,
  forGroup,
  type ShardRequest,
} from '../../../src/query/protocol/shard-request.ts';
import { pack, unpack } from '../../../src/store/codec/pack.ts';
import { everything } from '../support/queries.ts';

const scope = { tenant: 'acme', environmentId: 'env' };

test('shard request: a request round-trips, with lone surrogates and names on Object.prototype', () => {
  const condition = (value: string) =>
    ({
      kind: 'condition',
      field: '__proto__',
      operator: 'equals',
      value: { ['__proto__']: value, constructor: 1 },
      caseInsensitive: false,
    }) as const;
  const query = { ...everything, filter: condition('\ud800'), search: null };
  const request: ShardRequest = {
    needs: [0, 7, 2 ** 40],
    queries: [
      { scope, index: 'schema:pages', question: { kind: 'answer', query, isText: true } },
      {
        scope,
        index: 'auto:cms:page',
        question: { kind: 'counts', query, facets: [{ facetIndex: 0, values: ['\udc00', 1, true] }] },
      },
      {
        scope,
        index: 'schema:pages',
        question: { kind: 'texts', query, rows: [{ sourceId: 's', originId: 'ö' }] },
      },
      {
        scope,
        index: 'schema:pages',
        question: {
          kind: 'places',
          query: { ...query, distinct: { field: 'title', isForFacets: true, beaten: [['["s","ö"]'], []] } },
          rows: [],
        },
      },
    ],
  };
  assert.deepEqual(decodeRequest(unpack(pack(encodeRequest(request)))), request);
  const [first] = request.queries;
  assert.ok(first !== undefined);
  for (const queries of [request.queries, [first]]) {
    const body = forGroup(encodeRequest({ ...request, queries }), '1/2');
    assert.deepEqual(decodeRequest(unpack(pack(body))), { ...request, queries, group: '1/2' });
  }
});

test('shard request: anything but a request of this version is rejected', () => {
  for (const body of [null, 7, '{}', ['0,1', '[]'], [[0, 1]], Buffer.from('{}')]) {
    assert.throws(() => decodeRequest(body), TypeError);
  }
  assert.throws(() => decodeRequest([[], '{']), SyntaxError);
});
