import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemPath, memberPath, memberStep } from '../../src/lib/json-place.ts';

test('a plain name follows a point, any other stands in quotes', () => {
  assert.equal(memberPath('$', 'domains'), '$.domains');
  assert.equal(itemPath('$.domains', 0), '$.domains[0]');
  assert.equal(memberPath('$', 'two words'), "$['two words']");
  assert.equal(memberStep("it's"), "['it\\'s']");
  assert.equal(memberStep('back\\slash'), "['back\\\\slash']");
});

test('a place is one line, whatever a name holds', () => {
  assert.equal(memberPath('$', 'a\nb'), "$['a b']");
});
