import assert from 'node:assert/strict';
import { test } from 'node:test';
import { peekOriginId } from '../../../src/http/ingest/bulk-reading.ts';

test('the originId of a cut entity is found among its own members only', () => {
  const peek = (text: string) => peekOriginId(Buffer.from(text));
  assert.equal(peek('{"type":"t","originId":"a\\"b","properties":{"x":"'), 'a"b');
  assert.equal(peek('{"properties":{"originId":"inner"},"t":"originId"'), null);
  assert.equal(peek('{"x":"\\"originId\\":\\"no\\"","originId" : "yes"'), 'yes');
});
