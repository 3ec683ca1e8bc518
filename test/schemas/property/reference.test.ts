import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/contract/json.ts';
import { buildView, entityOf, viewIdOf } from '../support/fixtures.ts';
import { assertCases, issuesIn } from '../support/property.ts';

const reference = (more: JsonObject): JsonObject => ({ type: 'reference', alias: 'card', ...more });

test('reference: a reference points to a view, by id or originId; an empty id is null and no reference', () => {
  const gid = 'gid://Source/other/Entity/a/b';
  const world = { sources: { pim: 'source-2' } };
  const self = entityOf({ gid, key: 9, bad: 'no id', list: ['u', '', null, 'v'], alias: 'tile' });
  const prefix = 'gid://Environment/environment-1/Source';
  const built = buildView(
    {
      byId: { type: 'reference', alias: 'card', id: '{p.gid}' },
      byGid: { type: 'reference', alias: 'card', gid: '{p.gid}', source: 'pim' },
      'a b': { type: 'reference', alias: '{p.alias}', originId: '{p.key}' },
      other: { type: 'reference', alias: 'card', originId: 'x', source: 'pim' },
      unknown: { type: 'reference', alias: 'card', originId: 'x', source: 'none' },
      bad: { type: 'reference', alias: 'card', id: '{p.bad}' },
      none: { type: 'reference', alias: 'card', id: '{p.missing}' },
      related: {
        type: 'array',
        input: '{p.list}',
        items: {
          type: 'object',
          properties: { to: { type: 'reference', alias: 'card', originId: '{item}' } },
        },
      },
    },
    self,
    world,
  );
  assert.deepEqual(
    built.references.map((reference) => [reference.path, viewIdOf(reference)]),
    [
      ['.byId', `${prefix}/other/Entity/a/b/View/card`],
      ['.byGid', `${prefix}/other/Entity/a/b/View/card`],
      ["['a b']", `${prefix}/source-1/Entity/9/View/tile`],
      ['.other', `${prefix}/source-2/Entity/x/View/card`],
      ['.unknown', `${prefix}/none/Entity/x/View/card`],
      ['.bad', 'no id'],
      ['.related[0].to', `${prefix}/source-1/Entity/u/View/card`],
      ['.related[3].to', `${prefix}/source-1/Entity/v/View/card`],
    ],
  );
  const targets = built.references.map(({ target }) => target?.sourceId ?? null);
  assert.deepEqual(targets, ['other', 'other', 'source-1', 'source-2', null, null, 'source-1', 'source-1']);
});

test('reference: `view` is an alias of `alias`; both together are an error', () => {
  const named = { type: 'reference', view: '{p.kind}', gid: 'gid://Source/s/Entity/a' };
  const { references } = buildView({ named }, entityOf({ kind: 'tile' }));
  assert.deepEqual(references.map(viewIdOf), ['gid://Environment/environment-1/Source/s/Entity/a/View/tile']);
  assert.deepEqual(issuesIn({ ...named, alias: 'card' }), ['.view']);
  assert.deepEqual(issuesIn({ type: 'reference', originId: 'x' }), ['.alias']);
});

test('reference: an empty or null id, and an empty alias, give null', () => {
  assertCases([
    [reference({ id: '{p.a}' }), { a: '' }, null],
    [reference({ gid: '{p.a}' }), {}, null],
    [reference({ originId: '{p.a}' }), { a: '' }, null],
    [reference({ originId: 'x', alias: '{p.a}' }), {}, null],
    [reference({ originId: 'x', alias: '{p.a}' }), { a: '' }, null],
  ]);
});

test('reference: an alias that no schema can have refers to no view', () => {
  const { references } = buildView(
    { x: reference({ originId: 'o', alias: '{p.a}' }) },
    entityOf({ a: 'a/b' }),
  );
  assert.deepEqual(
    references.map((piece) => [piece.target, viewIdOf(piece)]),
    [[null, 'gid://Environment/environment-1/Source/source-1/Entity/o/View/a/b']],
  );
});

test('reference: requires its alias and its entity, each once', () => {
  assert.deepEqual(issuesIn({ type: 'reference', originId: 'x' }), ['.alias']);
  assert.deepEqual(issuesIn(reference({})), ['']);
  assert.deepEqual(issuesIn(reference({ id: 'x', gid: 'x', originId: 'x' })), ['.gid', '.originId']);
  assert.deepEqual(issuesIn(reference({ id: 'x', to: 1 })), ['.to']);
  assert.deepEqual(issuesIn(reference({ id: '{x}', source: '{y}' })), ['.id', '.source']);
});
