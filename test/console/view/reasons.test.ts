import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedOnce } from '../../../src/console/view/reasons.ts';

const reason = (about: string, ...views: readonly string[]) => ({
  about,
  ids: { total: views.length, views },
});

test('who shows a view: each view is listed once, under its first reason', () => {
  const listed = listedOnce([reason('a', 'x', 'y'), reason('none'), reason('b', 'y', 'z', 'x')], 10);
  assert.deepEqual(
    listed.map(({ about, ids, above }) => [about, ids.total, ids.views, above]),
    [
      ['a', 2, ['x', 'y'], 0],
      ['b', 3, ['z'], 2],
    ],
  );
});

test('who shows a view: a view beyond the listed ones of its first reason is listed under the next', () => {
  const [, second] = listedOnce([reason('a', 'x', 'y'), reason('b', 'y')], 1);
  assert.deepEqual(second, { about: 'b', ids: { total: 1, views: ['y'] }, above: 0 });
});
