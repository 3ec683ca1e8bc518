import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { destinationOptionsCharactersMax } from '../../../src/contract/limits.ts';
import { compileFullSchema } from '../../../src/schemas/definition/full-schema.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { cursorOver } from '../support/cursor.ts';
import { entityOf, inputOf } from '../support/fixtures.ts';

const surroundings = { partials: new Map(), scope: Scope.entity, sourceGroups: [] };

function compile(destinations: Json) {
  const { at, places } = cursorOver({ triggers: {}, properties: {}, destinations });
  return { schema: compileFullSchema('city', at, surroundings), places: places() };
}

function resolve(destinations: Json, properties: JsonObject) {
  const { schema, places } = compile(destinations);
  assert.deepEqual(places, []);
  return schema.destinations(inputOf(entityOf(properties, { originId: 'o-1' })));
}

test('destinations: options are optional', () => {
  assert.deepEqual(resolve([{ alias: 'search' }, { alias: 'mail', options: {} }], {}), [
    { alias: 'search', options: {} },
    { alias: 'mail', options: {} },
  ]);
  assert.deepEqual(resolve([], {}), []);
});

test('destinations: every string in options is an expression at any depth, and a single hole keeps the type of its value', () => {
  const options = {
    objectId: 'city-{originId}',
    partialUpdate: false,
    weight: 2.5,
    nothing: null,
    capital: '{p.capital}',
    tags: '{p.tags}',
    spelt: { $exp: '{p.name ?? type}' },
    deep: { list: ['{p.capital}', { name: 'of {p.name}' }, [1, '{{literal}}']] },
  };
  const withProto: JsonObject = JSON.parse(
    JSON.stringify(options).replace('"weight"', '"__proto__":"{type}","weight"'),
  );
  const [resolved] = resolve([{ alias: 'search', options: withProto }], {
    capital: true,
    tags: ['a', 1],
    name: 'Rome',
  });
  assert.equal(
    JSON.stringify(resolved),
    '{"alias":"search","options":{"objectId":"city-o-1","partialUpdate":false,"__proto__":"article","weight":2.5,' +
      '"nothing":null,"capital":true,"tags":["a",1],"spelt":"Rome",' +
      '"deep":{"list":[true,{"name":"of Rome"},[1,"{literal}"]]}}}',
  );
  assert.deepEqual(resolve([{ alias: 'a', options: { x: '{p.x}', y: 'of {p.x}' } }], {})[0]?.options, {
    x: null,
    y: 'of ',
  });
});

test('destinations: options that are too long for a message are omitted', () => {
  const destinations = [{ alias: 'search', options: { x: '{p.x}' } }];
  const longest = 'x'.repeat(destinationOptionsCharactersMax - '{"x":""}'.length);
  assert.deepEqual(resolve(destinations, { x: longest }), [{ alias: 'search', options: { x: longest } }]);
  assert.deepEqual(resolve(destinations, { x: `${longest}x` }), [
    { alias: 'search', options: {}, areCut: true },
  ]);
});

test('destinations: errors in destinations are reported with their paths', () => {
  assert.deepEqual(compile({ alias: 'search' }).places, ['$.destinations']);
  assert.deepEqual(compile(['search']).places, ['$.destinations[0]']);
  assert.deepEqual(compile([{}]).places, ['$.destinations[0].alias']);
  assert.deepEqual(compile([{ alias: '' }]).places, ['$.destinations[0].alias']);
  assert.deepEqual(compile([{ alias: 'a' }, { alias: 'a' }]).places, ['$.destinations[1].alias']);
  assert.deepEqual(compile([{ alias: 'a', option: {} }]).places, ['$.destinations[0].option']);
  assert.deepEqual(compile([{ alias: 'a', options: ['x'] }]).places, ['$.destinations[0].options']);
  assert.deepEqual(compile([{ alias: 'a', options: { x: { y: ['{p.'] } } }]).places, [
    '$.destinations[0].options.x.y[0]',
  ]);
  assert.deepEqual(compile([{ alias: 'a', options: { x: '{nothing}' } }]).places, [
    '$.destinations[0].options.x',
  ]);
});
