import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { actionsPerBuildMax } from '../../../src/contract/limits.ts';
import { Build } from '../../../src/schemas/build/build.ts';
import { compileActions } from '../../../src/schemas/definition/full-schema.ts';
import { Frame, Scope } from '../../../src/schemas/language/scope.ts';
import { cursorOver } from '../support/cursor.ts';
import { entityOf, inputOf } from '../support/fixtures.ts';

const own = { sourceId: 'source-1', originId: 'origin-1', alias: null };

function run(actions: Json | undefined, properties: JsonObject = {}) {
  const { at, places } = cursorOver(actions);
  const resolve = compileActions(at, Scope.entity);
  assert.deepEqual(places(), []);
  const resolveSource = (group: string) => (group === 'pim' ? 'source-2' : null);
  const build = new Build(inputOf(entityOf(properties), { resolveSource }));
  return resolve(new Frame(build, build.root));
}

test('actions: an action without originId and alias means all views of this entity', () => {
  assert.deepEqual(run([{ type: 'process' }]), [own]);
  assert.deepEqual(run(undefined), []);
});

test('actions: originId and alias can be expressions, and an array names several entities', () => {
  assert.deepEqual(run([{ type: 'process', alias: 'card-{p.x}', originId: '{p.x}' }], { x: 9 }), [
    { ...own, originId: '9', alias: 'card-9' },
  ]);
  const several = { type: 'process', originId: { $exp: '{p.x}' }, source: 'pim' };
  assert.deepEqual(run([several], { x: ['a', null, '', 'b'] }), [
    { sourceId: 'source-2', originId: 'a', alias: null },
    { sourceId: 'source-2', originId: 'b', alias: null },
  ]);
});

test('actions: a value that is null, empty or of an unknown source names no entity', () => {
  assert.deepEqual(run([{ type: 'process', originId: '{p.none}' }]), []);
  assert.deepEqual(run([{ type: 'process', originId: '' }]), []);
  assert.deepEqual(run([{ type: 'process', source: 'other' }]), []);
});

test('actions: a build keeps its first actions, up to a limit', () => {
  const x = Array.from({ length: actionsPerBuildMax }, (_, i) => `o${i}`);
  const found = run([{ type: 'process' }, { type: 'process', originId: '{p.x}' }], { x });
  assert.equal(found.length, actionsPerBuildMax);
  assert.deepEqual([found[0]?.originId, found.at(-1)?.originId], ['origin-1', x.at(-2)]);
});

test('actions: an invalid action is an error at its path', () => {
  const { at, places } = cursorOver([{ type: 'rebuild' }, { type: 'process', origin: 1 }, 'process']);
  compileActions(at, Scope.entity);
  assert.deepEqual(places(), ['$[0].type', '$[1].origin', '$[2]']);
});
