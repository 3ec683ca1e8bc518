import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseCoding } from '../../src/http/delivery/accept-encoding.ts';
import { namesTag } from '../../src/http/delivery/etag.ts';
import { unstorable } from '../../src/http/ingest/inspect-json.ts';
import { peekOriginId } from '../../src/http/ingest/peek-origin-id.ts';
import { mergeMetrics } from '../../src/http/operations/metrics-merge.ts';
import { RouteTimes, requestText } from '../../src/http/operations/request-times.ts';
import { sealUrl, unsealUrl } from '../../src/http/routes/cursor-token.ts';
import { headerText, percentDecoded, queryParameters } from '../../src/http/uws/text-decoding.ts';
import { runs } from './support/runs.ts';

test('the content coding is the one that the client weighs most', () => {
  const cases: [string, string][] = [
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['GZIP ; q=0.3', 'gzip'],
    ['br;q=x', 'identity'],
    ['deflate', 'identity'],
  ];
  for (const [header, coding] of cases) assert.equal(chooseCoding(header), coding, header);
});

test('a query string is read as URLSearchParams reads it', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 6 }), (pairs) => {
      const query = new URLSearchParams(pairs).toString();
      assert.deepEqual(queryParameters(query), [...new URLSearchParams(query)]);
    }),
    runs(500),
  );
});

test('what is not percent-encoded UTF-8 is refused', () => {
  for (const raw of ['%', '%4', '%zz', '%ff', '%c3%28', '%ed%a0%80'])
    assert.equal(percentDecoded(raw), null, raw);
  assert.equal(percentDecoded('a%2Fb+%C3%A9'), 'a/b+é');
});

test('a header is UTF-8 where it can be, else Latin-1', () => {
  assert.equal(headerText(Buffer.from('/café/東京').toString('latin1')), '/café/東京');
  assert.equal(headerText('/caf\u00e9'), '/café');
});

test('an If-None-Match names a tag weakly, in a list, or by a star', () => {
  const tag = 'W/"abc"';
  for (const header of ['W/"abc"', '"abc"', '"x", W/"abc"', '*']) assert.ok(namesTag(header, tag), header);
  for (const header of ['', '"abcd"', 'abc']) assert.ok(!namesTag(header, tag), header);
});

test('what JSON allows and the platform cannot store is named', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100; level += 1) deep = [deep];
  assert.equal(unstorable(deep as never, 'properties', 100), null);
  assert.match(unstorable([deep] as never, 'properties', 100) ?? '', /nested too deep/);
  assert.match(unstorable(JSON.parse('{"a":[1e999]}'), 'properties', 100) ?? '', /range/);
  assert.match(unstorable(JSON.parse('{"a":"\\ud800"}'), 'properties', 100) ?? '', /surrogate/);
  assert.match(unstorable(JSON.parse('{"\\udc00":1}'), 'properties', 100) ?? '', /surrogate/);
  assert.equal(unstorable(JSON.parse('{"a":"\\ud83d\\ude00"}'), 'properties', 100), null);
});

test('a cursor opens only under its secret, for its list, and as it was made', () => {
  const secret = Buffer.alloc(32, 1);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
      const url = `/${text}`;
      const token = sealUrl(secret, 'a', url);
      assert.equal(unsealUrl(secret, 'a', token), url);
      assert.equal(unsealUrl(secret, 'b', token), null);
      assert.equal(unsealUrl(Buffer.alloc(32, 2), 'a', token), null);
      const place = at % token.length;
      const changed = `${token.slice(0, place)}${token[place] === 'A' ? 'B' : 'A'}${token.slice(place + 1)}`;
      assert.equal(unsealUrl(secret, 'a', changed), null);
    }),
    runs(200),
  );
});

test('the originId of a cut entity is found among its own members only', () => {
  const peek = (text: string) => peekOriginId(Buffer.from(text));
  assert.equal(peek('{"type":"t","originId":"a\\"b","properties":{"x":"'), 'a"b');
  assert.equal(peek('{"properties":{"originId":"inner"},"t":"originId"'), null);
  assert.equal(peek('{"x":"\\"originId\\":\\"no\\"","originId" : "yes"'), 'yes');
});

test('metrics of several processes make one group per metric', () => {
  const text = (value: number) =>
    `# HELP a_seconds Time\n# TYPE a_seconds histogram\na_seconds_bucket{le="1"} ${value}\na_seconds_sum ${value}\na_seconds_count ${value}\n`;
  assert.equal(
    mergeMetrics([
      { process: 'x', role: 'web', text: text(1) },
      { process: 'y', role: 'jobs', text: text(2) },
    ]),
    [
      '# HELP a_seconds Time',
      '# TYPE a_seconds histogram',
      'a_seconds_bucket{process="x",role="web",le="1"} 1',
      'a_seconds_sum{process="x",role="web"} 1',
      'a_seconds_count{process="x",role="web"} 1',
      'a_seconds_bucket{process="y",role="jobs",le="1"} 2',
      'a_seconds_sum{process="y",role="jobs"} 2',
      'a_seconds_count{process="y",role="jobs"} 2',
      '',
    ].join('\n'),
  );
});

test('every request is counted and timed', () => {
  const times = new RouteTimes('endpoint="e"');
  times.observe(200, 2);
  times.observe(503, 600);
  times.observe(304, 4);
  times.observe(200, 4);
  const text = requestText([times]);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const sampleOf = (name: string) => samples.find((line) => line.startsWith(name))?.split(' ')[1];
  const total = 'millrace_http_requests_total{endpoint="e",status=';
  assert.deepEqual(
    samples.filter((line) => line.startsWith(total)),
    [`${total}"200"} 2`, `${total}"304"} 1`, `${total}"503"} 1`],
  );
  const duration = 'millrace_http_request_duration_seconds';
  assert.equal(sampleOf(`${duration}_count`), '4');
  assert.equal(sampleOf(`${duration}_sum`), String((2 + 600 + 4 + 4) / 1000));
  assert.equal(sampleOf(`${duration}_bucket{endpoint="e",le="0.005"}`), '3');
  assert.equal(sampleOf(`${duration}_bucket{endpoint="e",le="+Inf"}`), '4');
});
