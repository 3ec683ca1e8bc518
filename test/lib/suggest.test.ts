import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceForUnknown, nearestName } from '../../src/lib/suggest.ts';

test('suggest: the nearest known name is suggested, ignoring case, and none that is far away', () => {
  assert.equal(nearestName('hostnmes', ['alias', 'hostnames']), 'hostnames');
  assert.equal(nearestName('ALIAS', ['alias', 'hostnames']), 'alias');
  assert.equal(nearestName('a', ['b', 'cc']), 'b');
  assert.equal(nearestName('title', ['hostnames', 'sources']), null);
});

test('suggest: a name too long to be a typo is not compared', () => {
  const long = 'x'.repeat(65);
  assert.equal(nearestName(long, [long]), null);
});

test('suggest: the hint lists the known names, and says how many are omitted', () => {
  assert.equal(adviceForUnknown('x', []), 'None are defined yet.');
  assert.equal(
    adviceForUnknown('hostnmes', ['hostnames', 'alias']),
    'Did you mean "hostnames"? Known here: alias, hostnames.',
  );
  const many = Array.from({ length: 14 }, (_, index) => `name${String(index).padStart(2, '0')}`);
  assert.match(adviceForUnknown('other', many), /name11, … \(14\)\.$/);
});
