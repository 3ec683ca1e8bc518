import assert from 'node:assert/strict';
import { test } from 'node:test';
import { facetsOf, labelledResult, listText, resultText } from '../../../src/query/result/result-text.ts';
import { everything, facetOf } from '../support/queries.ts';

const facet = { name: 'n', field: 'f', groups: [{ value: 'a', count: 2 }], isValid: true };
const rows = [{ _originId: 'ä' }, { _originId: 'b' }];
/** Each in two chunks. */
const texts = rows.map((row) => {
  const text = Buffer.from(JSON.stringify(row));
  return [text.subarray(0, 5), text.subarray(5)];
});

test('result text: a result is JSON with its members in order', () => {
  for (const count of [0, 1, 2]) {
    const tail = { facets: [facet], nextPageToken: count === 2 ? 'token' : null };
    assert.equal(
      resultText(7, texts.slice(0, count), tail).toString(),
      JSON.stringify({ status: 0, totalResults: 7, results: rows.slice(0, count), ...tail }),
    );
  }
});

test('result text: each of several results has its own labels after the status', () => {
  const one = resultText(1, [], { facets: [], nextPageToken: null });
  const plain = JSON.parse(one.toString());
  const named = labelledResult(one, { name: 'a', x: null });
  assert.deepEqual(JSON.parse(Buffer.from(named).toString()), { ...plain, name: 'a', x: null });
  assert.ok(Buffer.from(named).toString().startsWith('{"status":0,"name":"a","x":null,"totalResults":1'));
  assert.deepEqual(JSON.parse(listText([named, one]).toString()), [{ ...plain, name: 'a', x: null }, plain]);
  assert.equal(listText([]).toString(), '[]');
});

test('result text: a facet has the requested number of groups', () => {
  const query = { ...everything, facets: [facetOf('f', 1), { ...facetOf('g'), isValid: false }] };
  const groups = [
    { value: 'a', count: 2 },
    { value: 'b', count: 1 },
  ];
  assert.deepEqual(facetsOf(query, [{ groups }]), [
    { name: 'f', field: 'f', groups: [groups[0]], isValid: true },
    { name: 'g', field: 'g', groups: [], isValid: false },
  ]);
});
