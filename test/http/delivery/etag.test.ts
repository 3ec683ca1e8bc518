import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesTag } from '../../../src/http/delivery/etag.ts';

test('an If-None-Match names a tag weakly, in a list, or by a star', () => {
  const tag = 'W/"abc"';
  for (const header of ['W/"abc"', '"abc"', '"x", W/"abc"', '*']) assert.ok(namesTag(header, tag), header);
  for (const header of ['', '"abcd"', 'abc']) assert.ok(!namesTag(header, tag), header);
});
