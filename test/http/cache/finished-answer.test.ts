import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import { etagOf, namesTag } from '../../../src/http/cache/finished-answer.ts';
import { digestOf } from '../../../src/store/codec/digest.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';

const pageBytes = 2_000_000;
const cache = new AnswerCache(256 * 1024 * 1024);

let front: TestFront;
before(async () => {
  front = await startFront({ services: { cache } });
  // Text that compresses to about a third, so that counting a form twice would be visible.
  const words = Array.from({ length: pageBytes / 10 }, (_, at) =>
    ((at * 2_654_435_761) % 1e9).toString(36).padEnd(10),
  );
  await putView(front.store, 'page', words.join(''));
  await putClaim(front.store, 'page', { handle: 'page' });
});
after(() => front.stop());

for (const coding of ['gzip', 'br']) {
  test(`finished answer: for thirty requests of one fresh page, it is compressed once in ${coding}, and counts once`, async () => {
    cache.empty();
    const read = async () => {
      const response = await fetch(`${front.url}/v2?handle=page`, {
        headers: { 'X-Api-Key': apiKeys.client, 'Accept-Encoding': coding },
      });
      assert.equal(response.headers.get('content-encoding'), coding);
      const bytes = Number(response.headers.get('content-length'));
      await response.arrayBuffer();
      return bytes;
    };
    const [first = 0, ...others] = await Promise.all(Array.from({ length: 30 }, read));
    assert.ok(first > 100_000);
    for (const bytes of others) assert.equal(bytes, first);
    const { bytes, entries } = cache.stats;
    assert.equal(entries, 1);
    assert.ok(
      bytes < pageBytes + first + 10_000,
      `${bytes} bytes for a page of ${pageBytes} and ${first} in ${coding}`,
    );
  });
}

test('finished answer: If-None-Match matches a tag weakly, in a list, or by a star', () => {
  const tag = 'W/"abc"';
  for (const header of ['W/"abc"', '"abc"', '"x", W/"abc"', '*']) assert.ok(namesTag(header, tag), header);
  for (const header of ['', '"abcd"', 'abc']) assert.ok(!namesTag(header, tag), header);
});

test('finished answer: a page with a crafted string does not keep its tag when the string is removed', () => {
  const bodyWith = (text: string) =>
    Buffer.from(
      `{"meta":{"status":200,"redirect":null,"missingViewReferences":[]},"route":{"title":"News","text":"${text}"},"views":{}}`,
    );
  // Both have the same XXH64; such a string is found in a fraction of a second.
  const [chosen, removed] = ["Harmful words 005qm ..........dt4h'z/:", '[removed by the moderator]'];
  assert.deepEqual(digestOf(bodyWith(chosen)), digestOf(bodyWith(removed)));
  assert.notEqual(etagOf(bodyWith(chosen)), etagOf(bodyWith(removed)));
  assert.match(etagOf(bodyWith(removed)), /^W\/"[\w-]{22}"$/);
});
