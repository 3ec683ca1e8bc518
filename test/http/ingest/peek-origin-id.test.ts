import assert from 'node:assert/strict';
import { test } from 'node:test';
import { peekOriginId } from '../../../src/http/ingest/bulk.ts';

test("peek originId: it is found only among the entity's own members, in a truncated entity", () => {
  const peek = (text: string) => peekOriginId(Buffer.from(text));
  assert.equal(peek('{"type":"t","originId":"a\\"b","properties":{"x":"'), 'a"b');
  assert.equal(peek('{"properties":{"originId":"inner"},"t":"originId"'), null);
  assert.equal(peek('{"x":"\\"originId\\":\\"no\\"","originId" : "yes"'), 'yes');
});
