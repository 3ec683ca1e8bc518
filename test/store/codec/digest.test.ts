import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestBytes, digestOf } from '../../../src/store/codec/digest.ts';

test('digest: digests have 8 bytes and never change', () => {
  assert.equal(digestOf('').length, digestBytes);
  assert.equal(
    digestOf('acme:env:u:/a').toString('hex'),
    digestOf(Buffer.from('acme:env:u:/a')).toString('hex'),
  );
  assert.equal(digestOf('').toString('hex'), '99e9d85137db46ef');
  assert.equal(digestOf('abc').toString('hex'), '990977adf52cbc44');
});
