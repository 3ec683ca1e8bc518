import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatEntityId, formatViewId, parseEntityId, parseViewId } from '../../src/contract/ids.ts';
import { runs } from '../support/runs.ts';
import { spentMs } from '../support/spent.ts';

const part = fc.stringMatching(/^[A-Za-z0-9-]{1,20}$/);
const originId = fc.string({ unit: 'grapheme', minLength: 1 });

test('ids: an entity id has the shape of the contract, with an unchanged originId', () => {
  const id = formatEntityId({ sourceId: '32eb', originId: 'a/b c?d' });
  assert.equal(id, 'gid://Source/32eb/Entity/a/b c?d');
  assert.deepEqual(parseEntityId(id), { sourceId: '32eb', originId: 'a/b c?d' });
});

test('ids: a view id has the documented shape', () => {
  const view = { environmentId: '7c9e', sourceId: '32eb', originId: '42', alias: 'page' };
  assert.equal(formatViewId(view), 'gid://Environment/7c9e/Source/32eb/Entity/42/View/page');
});

test('ids: any id round-trips through its string, whatever its originId looks like', () => {
  fc.assert(
    fc.property(part, part, originId, part, (environmentId, sourceId, anyOriginId, alias) => {
      const entity = { sourceId, originId: anyOriginId };
      assert.deepEqual(parseEntityId(formatEntityId(entity)), entity);
      const view = { environmentId, ...entity, alias };
      assert.deepEqual(parseViewId(formatViewId(view)), view);
    }),
    { numRuns: runs(300) },
  );
});

test('ids: an originId that looks like the end of a view id is still the originId', () => {
  const view = { environmentId: 'e', sourceId: 's', originId: '1/View/other', alias: 'page' };
  assert.deepEqual(parseViewId(formatViewId(view)), view);
});

test('ids: an invalid id is rejected', () => {
  for (const wrong of [
    '',
    'gid://Source//Entity/1',
    'gid://Source/s/Entity/',
    'gid://source/s/Entity/1',
    'gid://Environment/e/Source/s/Entity/1',
    'gid://Environment/e/Source/s/Entity//View/page',
    'gid://Environment/e/Source/s/Entity/1/View/',
    'gid://Environment/e/Source/s/Entity/1/View/a b',
    ' gid://Source/s/Entity/1',
  ]) {
    assert.equal(parseViewId(wrong), null, wrong);
    assert.equal(parseEntityId(wrong), null, wrong);
  }
});

test('ids: hostile ids are parsed quickly', () => {
  const startMs = spentMs();
  parseViewId(`gid://Environment/e/Source/s/Entity/${'/View/'.repeat(200_000)}`);
  parseEntityId(`gid://Source/${'a'.repeat(1_000_000)}`);
  assert.ok(spentMs() - startMs < 2000);
});
