import assert from 'node:assert/strict';
import { test } from 'node:test';
import { propertyPaths } from '../../src/schemas/lookup-plan.ts';

test('lookup plan: a name is a dotted path in the properties', () => {
  assert.deepEqual(propertyPaths('title'), [['properties', 'title']]);
  assert.deepEqual(propertyPaths('seo.title'), [['properties', 'seo', 'title']]);
});

test('lookup plan: a built-in field of the entity is second, after a property of that name', () => {
  for (const name of ['originParentId', 'originId', 'type', 'url', 'redirects', 'id']) {
    assert.deepEqual(propertyPaths(name), [['properties', name], [name]]);
  }
  assert.deepEqual(propertyPaths('type.name'), [['properties', 'type', 'name']], 'fields have no members');
});

test('lookup plan: `properties.x` and `p.x` mean only the properties', () => {
  assert.deepEqual(propertyPaths('properties.type'), [['properties', 'type']]);
  assert.deepEqual(propertyPaths('p.url'), [['properties', 'url']]);
  assert.deepEqual(propertyPaths('p'), [['properties', 'p']], 'on its own, it is a name like any other');
});
