import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etagOf, namesTag } from '../../../src/http/delivery/etag.ts';
import { digestOf } from '../../../src/store/codec/digest.ts';

test('an If-None-Match names a tag weakly, in a list, or by a star', () => {
  const tag = 'W/"abc"';
  for (const header of ['W/"abc"', '"abc"', '"x", W/"abc"', '*']) assert.ok(namesTag(header, tag), header);
  for (const header of ['', '"abcd"', 'abc']) assert.ok(!namesTag(header, tag), header);
});

test('a page whose text was chosen for it does not keep its tag when the text is removed', () => {
  const bodyWith = (text: string) =>
    Buffer.from(
      `{"meta":{"status":200,"redirect":null,"missingViewReferences":[]},"route":{"title":"News","text":"${text}"},"views":{}}`,
    );
  // Both have one XXH64; such a text is found in a fraction of a second.
  const [chosen, removed] = ["Harmful words 005qm ..........dt4h'z/:", '[removed by the moderator]'];
  assert.deepEqual(digestOf(bodyWith(chosen)), digestOf(bodyWith(removed)));
  assert.notEqual(etagOf(bodyWith(chosen)), etagOf(bodyWith(removed)));
  assert.match(etagOf(bodyWith(removed)), /^W\/"[\w-]{22}"$/);
});
