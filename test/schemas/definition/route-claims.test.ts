import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { handleCodePointsMax, handlesPerViewMax, urlCodePointsMax } from '../../../src/contract/limits.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compileRoute } from '../../../src/schemas/definition/full-schema.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { cursorOver } from '../support/cursor.ts';
import { entityOf, frameOf } from '../support/fixtures.ts';

function claims(route: Json | undefined, properties: JsonObject = {}) {
  const { at, places } = cursorOver(route);
  const claimsOf = compileRoute(at, Scope.entity);
  assert.deepEqual(places(), []);
  return finish(claimsOf(frameOf(entityOf(properties))));
}

test('route claims: a missing or empty route claims nothing', () => {
  for (const route of [undefined, {}]) assert.deepEqual(claims(route), { url: null, handles: [] });
});

test('route claims: a URL that is absolute or starts with `/` is claimed unchanged, any other claims nothing', () => {
  assert.deepEqual(claims({ url: '{url}' }), { url: '/one', handles: [] });
  for (const url of [
    '/',
    '/ä b',
    'https://x.y/z',
    'HTTP://x',
    `/${'x'.repeat(urlCodePointsMax - 1)}`,
    `/${'😀'.repeat(urlCodePointsMax - 1)}`,
  ]) {
    assert.equal(claims({ url: '{p.u}' }, { u: url }).url, url);
  }
  for (const url of [
    '',
    'x',
    ' /x',
    'ftp://x',
    'https:/x',
    'http://',
    'http:///x',
    'http://x//y',
    'http://a b/x',
    'http://a:b/x',
    null,
    9,
    `/${'x'.repeat(urlCodePointsMax)}`,
    `/${'😀'.repeat(urlCodePointsMax)}`,
  ]) {
    assert.equal(claims({ url: '{p.u}' }, { u: url }).url, null, String(url));
  }
});

test('route claims: handles are in the order of the schema, without empty ones and duplicates, arrays item by item', () => {
  const handles = ['a', '{p.n}', '{p.none}', '{p.e}', 'a', '{p.list}', { $exp: '{p.n}' }, 'x{p.none}'];
  assert.deepEqual(claims({ handles }, { n: 9, e: '', list: ['l', null, 2] }).handles, [
    'a',
    '9',
    'l',
    '2',
    'x',
  ]);
});

test('route claims: a view has the first of its handles, and none that cannot be requested', () => {
  const list = Array.from({ length: handlesPerViewMax + 1 }, (_, at) => `h${at}`);
  const all = list.slice(0, handlesPerViewMax);
  assert.deepEqual(claims({ handles: ['{p.list}'] }, { list: all }), { url: null, handles: all });
  assert.deepEqual(claims({ handles: ['{p.list}', 'h0'] }, { list: all }), { url: null, handles: all });
  assert.deepEqual(claims({ handles: ['{p.list}'] }, { list }), { url: null, handles: all, areCut: true });
  const longest = '😀'.repeat(handleCodePointsMax);
  assert.deepEqual(claims({ handles: [`${longest}`, 'a'] }), { url: null, handles: [longest, 'a'] });
  assert.deepEqual(claims({ handles: [`${longest}b`, 'a'] }), { url: null, handles: ['a'], areCut: true });
});

test('route claims: an invalid route is an error at its path', () => {
  for (const [route, place] of [
    [{ path: '/x' }, '$.path'],
    [{ url: '{p.x' }, '$.url'],
    [{ handles: 'x' }, '$.handles'],
    [{ handles: ['a', {}] }, '$.handles[1]'],
    ['/x', '$'],
  ] as const) {
    const { at, places } = cursorOver(route as Json);
    compileRoute(at, Scope.entity);
    assert.ok(
      places().some((found) => found.startsWith(place)),
      JSON.stringify([route, places()]),
    );
  }
});
