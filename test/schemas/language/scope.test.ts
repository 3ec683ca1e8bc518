import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { Frame, isReservedName, Scope } from '../../../src/schemas/language/scope.ts';
import { entityOf, frameOf, frameOver } from '../support/fixtures.ts';

const entity = entityOf({ title: 'T' });

/** The frame of an array's element inside another. */
function inside(outer: Frame, element: Json): Frame {
  const frame = new Frame(outer.build, outer.self, outer);
  frame.value = element;
  return frame;
}

function read(scope: Scope, name: string, frame: Frame): Json | undefined {
  return scope.resolve(name)?.(frame);
}

test('scope: outside arrays `item`, `parent` and `input` are `root`', () => {
  const frame = frameOf(entity);
  for (const name of ['root', 'item', 'parent', 'input']) {
    assert.equal(read(Scope.entity, name, frame), frame.self, name);
  }
});

test('scope: inside arrays each variable is the element of its own array, and `parent` the enclosing one', () => {
  const scope = Scope.entity.inside('a', false).inside('b', false).inside('c', false);
  const root = frameOf(entity);
  const frame = inside(inside(inside(root, 'A'), 'B'), 'C');
  const values = ['a', 'b', 'c', 'parent'].map((name) => read(scope, name, frame));
  assert.deepEqual(values, ['A', 'B', 'C', 'B']);
  assert.equal(read(scope, 'root', frame), root.self);
  assert.equal(read(Scope.entity.inside('a', false), 'parent', inside(root, 'A')), root.self);
});

test('scope: an inner variable shadows an outer one of the same name', () => {
  const scope = Scope.entity.inside('item', false).inside('item', false);
  const frame = inside(inside(frameOf(entity), 'outer'), 'inner');
  assert.equal(read(scope, 'item', frame), 'inner');
});

test('scope: `input` is the matched entity of the nearest lookup, also from arrays inside its items', () => {
  const root = frameOf(entity);
  const found = inside(inside(root, 'element'), 'found');
  const inLookup = Scope.entity.inside('item', false).inside('item', true);
  assert.equal(read(inLookup, 'input', found), 'found');
  assert.equal(read(inLookup.inside('item', false), 'input', inside(found, 'part')), 'found');
  assert.equal(read(inLookup.inside('item', true), 'input', inside(found, 'again')), 'again');
  assert.equal(read(Scope.entity.inside('item', false), 'input', inside(root, 'element')), root.self);
});

test('scope: bare names are the fields of the entity in a full schema, and the members of the input in a partial', () => {
  assert.deepEqual(read(Scope.entity, 'p', frameOf(entity)), { title: 'T' });
  assert.equal(read(Scope.entity, 'originId', frameOf(entity)), 'origin-1');
  assert.equal(Scope.entity.resolve('title'), null);
  assert.equal(read(Scope.partial, 'title', frameOver({ title: 'given' })), 'given');
  assert.equal(read(Scope.partial, 'title', frameOver(7)), null);
});

test('scope: `find` distinguishes a null member from an absent one', () => {
  assert.equal(Scope.partial.find('a')?.(frameOver({ a: null })), null);
  assert.equal(Scope.partial.find('a')?.(frameOver({})), undefined);
  const scope = Scope.partial.inside('a', false);
  assert.equal(scope.find('a')?.(inside(frameOver({ a: 1 }), null)), null);
  assert.equal(Scope.entity.find('title'), null);
});

test('scope: an array variable cannot have a reserved name, except `item`', () => {
  for (const name of ['root', 'parent', 'input', 'p', 'properties', 'id', 'originId', 'url']) {
    assert.ok(isReservedName(name), name);
  }
  for (const name of ['item', 'x', 'Root', 'title']) assert.ok(!isReservedName(name), name);
});

test('scope: every suggested name is defined', () => {
  for (const scope of [Scope.entity.inside('own', true), Scope.partial.inside('own', false)]) {
    assert.ok(scope.names.includes('own'));
    assert.equal(new Set(scope.names).size, scope.names.length);
    for (const name of scope.names) assert.notEqual(scope.resolve(name), null, name);
  }
});

test('scope: an observer sees each path with its place, and can replace its value', () => {
  const place = { file: 'schemas/v.json', path: '$.properties.x' };
  const received: unknown[] = [];
  const scope = Scope.entity.observedBy((at, path) => {
    received.push([at, path]);
    return () => 'observed';
  });
  const evaluate = () => 'as it is';
  const frame = frameOf(entity);
  assert.equal(scope.at(place).inside('a', false).observed('p.title', evaluate)(frame), 'observed');
  assert.deepEqual(received, [[place, 'p.title']]);
  assert.equal(scope.observed('p.title', evaluate), evaluate);
  assert.equal(scope.at(place).observedBy(null).observed('p.title', evaluate), evaluate);
  assert.equal(Scope.entity.at(place).observed('p.title', evaluate), evaluate);
});
