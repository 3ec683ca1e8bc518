import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { jsonDepthMax } from '../../../src/contract/limits.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { PathEnvironment } from '../../../src/schemas/json-path/path-environment.ts';
import { PathRun } from '../../../src/schemas/json-path/run.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { frameOver } from '../support/fixtures.ts';

function matching(condition: string, items: Json[]): readonly Json[] {
  return finish(compilePath(`$.items[?${condition}]`, Scope.partial).list(frameOver({ items })));
}

test('there is a run while a path is evaluated, and none before and behind it, even one that fails', () => {
  const environment = new PathEnvironment();
  const run = new PathRun(frameOver(1));
  assert.throws(() => environment.run, /within a run/);
  assert.equal(
    environment.within(run, () => environment.run === run),
    true,
  );
  assert.throws(() => environment.run, /within a run/);
  const fail = () => {
    throw new Error('failed');
  };
  assert.throws(() => environment.within(run, fail), /failed/);
  assert.throws(() => environment.run, /within a run/);
});

test('`length` counts characters, elements and members; of anything else it is Nothing', () => {
  assert.deepEqual(matching('length(@) == 2', ['😀b', 'ab', '😀', [1, 2], { a: 1, b: 2 }, 2]), [
    '😀b',
    'ab',
    [1, 2],
    { a: 1, b: 2 },
  ]);
  assert.deepEqual(matching('length(@) == length($.none)', ['', 1, null, true, []]), [1, null, true]);
});

test('`match` is of the whole text, `search` of a part', () => {
  const texts = ['ab', 'abc', 'xab', 'b'];
  assert.deepEqual(matching("match(@, 'a.')", texts), ['ab']);
  assert.deepEqual(matching("search(@, 'a.')", texts), ['ab', 'abc', 'xab']);
});

test('what is no text matches nothing, and no pattern is matched by nothing', () => {
  assert.deepEqual(matching("search(@, '')", ['', 1, null, ['']]), ['']);
  assert.deepEqual(matching("search(@, '(')", ['(', '']), []);
  assert.deepEqual(matching('search(@, $.items)', ['', 'a']), []);
});

test('a descent goes as deep as any JSON that is taken', () => {
  let deep: Json = { leaf: 1 };
  for (let i = 0; i < jsonDepthMax; i++) deep = [deep];
  assert.deepEqual(compilePath('$..leaf', Scope.partial).list(frameOver({ deep })), [1]);
});
