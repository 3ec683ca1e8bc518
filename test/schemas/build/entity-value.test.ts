import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EntityValue,
  entityFields,
  entityValue,
  isEntityField,
} from '../../../src/schemas/build/entity-value.ts';
import { entityOf } from '../support/fixtures.ts';

const entity = entityOf(
  { title: 'T' },
  { originId: 'o/1', originParentId: 'up', type: 'page', url: '/x', redirects: ['/r'] },
);

test('entity value: the JSON of an entity has its own fields in a fixed order, and nothing about its storage', () => {
  const json = JSON.stringify(new EntityValue(entity));
  assert.equal(
    json,
    '{"id":"gid://Source/source-1/Entity/o/1","originId":"o/1","originParentId":"up","type":"page","url":"/x","redirects":["/r"],"properties":{"title":"T"}}',
  );
  assert.deepEqual(Object.keys(JSON.parse(json)), [...entityFields]);
});

test('entity value: unset fields are null, and missing redirects are an empty list', () => {
  const bare = new EntityValue(entityOf({}, { url: null }));
  assert.equal(bare.url, null);
  assert.equal(bare.originParentId, null);
  assert.deepEqual(bare.redirects, []);
});

test('entity value: each entity has its own value, also when two alternate', () => {
  const other = entityOf({}, { originId: 'other' });
  for (const one of [entity, entity, other, entity, other]) {
    assert.deepEqual(entityValue(one), new EntityValue(one));
  }
});

test('entity value: a new version of an entity has a new value', () => {
  entityValue(entity);
  assert.deepEqual(entityValue({ ...entity, properties: { title: 'new' } }).properties, { title: 'new' });
});

test('entity value: the fields of an entity are known by name', () => {
  for (const name of entityFields) assert.ok(isEntityField(name), name);
  for (const name of ['p', 'root', 'title', 'ID', 'sourceId', 'stamp', 'constructor', '']) {
    assert.ok(!isEntityField(name), name);
  }
});
