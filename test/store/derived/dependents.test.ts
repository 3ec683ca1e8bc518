import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDependent, parseDependent } from '../../../src/store/derived/dependents.ts';
import { runs } from '../../support/runs.ts';

const text = fc.string({ unit: 'grapheme' });

const name = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);

const id = fc.oneof(name, fc.uuid());

test('dependents: parsing a formatted name returns the dependent, with any characters in its originId', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('view' as const, 'item' as const, 'entity' as const, 'repair' as const),
      id,
      name,
      id,
      text,
      (kind, environmentId, alias, sourceId, originId) => {
        const dependent = { kind, environmentId, name: alias, sourceId, originId: `a|${originId}` };
        assert.deepEqual(parseDependent(formatDependent(dependent)), dependent);
      },
    ),
    { numRuns: runs(200) },
  );
});

test('dependents: parsing an invalid name returns null', () => {
  for (const wrong of ['', 'v', 'v|e|a', 'x|e|a|s|o', 'constructor|e|a|s|o', '__proto__|e|a|s|o']) {
    assert.equal(parseDependent(wrong), null, wrong);
  }
});
