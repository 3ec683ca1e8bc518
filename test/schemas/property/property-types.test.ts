import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { buildView, entityOf, viewIdOf } from '../support/fixtures.ts';

const entity = entityOf({
  title: 'Hello',
  empty: '',
  nothing: null,
  count: 9,
  half: 2.5,
  numeric: ' 1.25 ',
  word: 'abc',
  yes: 'TRUE',
  tags: ['a', 'b'],
  nested: [
    { name: 'x', list: [1, 2] },
    { name: 'y', list: [3] },
  ],
  meta: { a: 1, b: { c: 2 } },
});

/** What one property definition gives. */
function resultOf(definition: Json): Json {
  const { view } = buildView({ x: definition }, entity);
  return (view as { x: Json }).x;
}

function table(cases: readonly (readonly [Json, Json])[]): void {
  for (const [definition, wanted] of cases) {
    assert.deepEqual(resultOf(definition), wanted, JSON.stringify(definition));
  }
}

test('string: default stands for null and the empty text; the shorthand is a bare text', () => {
  table([
    ['{p.title}', 'Hello'],
    ['{p.count}', '9'],
    ['{p.nothing}', null],
    [{ type: 'string', value: '{p.empty}' }, ''],
    [{ type: 'string', value: '{p.empty}', default: 'D' }, 'D'],
    [{ type: 'string', value: '{p.nothing}', default: '{p.title}' }, 'Hello'],
    [{ type: 'string', value: '{p.title}', default: 'D' }, 'Hello'],
    [{ type: 'string', value: '{p.nothing} ', default: 'D' }, ' '],
    [{ type: 'string', value: { $exp: '{p.meta}' } }, '{"a":1,"b":{"c":2}}'],
    [{ type: 'string', value: 7 }, '7'],
    [5, 5],
    [true, true],
    [null, null],
  ]);
});

test('number: text that wholly is a number counts, anything else gives the default, which is not rounded', () => {
  table([
    [{ type: 'number', value: '{p.count}' }, 9],
    [{ type: 'number', value: '{p.half}' }, 2],
    [{ type: 'number', value: '{p.numeric}' }, 1],
    [{ type: 'number', value: '{p.numeric}', precision: 1 }, 1.2],
    [{ type: 'number', value: '{p.numeric}', precision: 900 }, 1.25],
    [{ type: 'number', value: '{p.count}.{p.count}', precision: 1 }, 9.9],
    [{ type: 'number', value: '{p.word}' }, null],
    [{ type: 'number', value: '{p.word}', default: 1.55 }, 1.55],
    [{ type: 'number', value: '{p.nothing}', default: '0.75', precision: 1 }, 0.75],
    [{ type: 'number', value: '{p.nothing}', default: '{p.half}' }, 2.5],
    [{ type: 'number', value: '{p.nothing}', default: '{p.word}' }, null],
    [{ type: 'number', value: '{p.empty}', default: 3 }, 3],
    [{ type: 'number', value: '{p.yes}' }, null],
    [{ type: 'number', value: '{p.tags}' }, null],
    [{ type: 'number', value: true, default: 1 }, 1],
    [{ type: 'number', value: '1e400', default: 2 }, 2],
  ]);
});

test('boolean: true and false in any case, anything else gives the default', () => {
  table([
    [{ type: 'boolean', value: '{p.yes}' }, true],
    [{ type: 'boolean', value: 'fAlSe' }, false],
    [{ type: 'boolean', value: '{p.count}' }, null],
    [{ type: 'boolean', value: ' true' }, null],
    [{ type: 'boolean', value: '{p.word}', default: false }, false],
    [{ type: 'boolean', value: '{p.nothing}', default: 'True' }, true],
    [{ type: 'boolean', value: '{p.nothing}' }, null],
  ]);
});

test('array: null is empty, a single value is its only element, items map each', () => {
  table([
    [{ type: 'array', input: '{p.missing}' }, []],
    [{ type: 'array', input: '{p.title}' }, ['Hello']],
    [{ type: 'array', input: '{p.meta}' }, [{ a: 1, b: { c: 2 } }]],
    [{ type: 'array', input: '{p.tags}' }, ['a', 'b']],
    [{ type: 'array', input: '{p.tags}', items: '{item}-{root.p.count}' }, ['a-9', 'b-9']],
    [{ type: 'array', input: '{p.tags}', var: 't', items: '{t}' }, ['a', 'b']],
    [{ type: 'array', input: { $path: '$.p.nested[*].list[*]' } }, [1, 2, 3]],
    [{ type: 'array', input: { $path: '$.p.nested[?@.name == {p.word}]' } }, []],
    [{ type: 'array', input: '{p.tags}', items: '{item.x}' }, [null, null]],
  ]);
});

test('array: root, parent and outer variables are seen from inside', () => {
  const inner = {
    type: 'array',
    input: '{outer.list}',
    items: '{item} of {outer.name}/{parent.name} of {root.originId}',
  };
  const [first, second] = ['x', 'y'];
  assert.deepEqual(resultOf({ type: 'array', input: '{p.nested}', var: 'outer', items: inner }), [
    [1, 2].map((n) => `${n} of ${first}/${first} of origin-1`),
    [3].map((n) => `${n} of ${second}/${second} of origin-1`),
  ]);
  assert.deepEqual(resultOf({ type: 'array', input: '{p.tags}', items: '{parent.originId}' }), [
    'origin-1',
    'origin-1',
  ]);
});

test('object and dynamic: `*` alone is the value, beside others it is merged and yields to them', () => {
  table([
    [
      { type: 'object', properties: { a: '1', b: { type: 'object', properties: {} } } },
      { a: '1', b: {} },
    ],
    [{ '*': '$.p.meta.b' }, { c: 2 }],
    [{ type: 'dynamic', '*': 'p.meta.a' }, 1],
    [{ type: 'dynamic', value: 'p.nested[*].name' }, ['x', 'y']],
    [{ '*': 'p.missing' }, null],
    [{ '*': '{p.tags}' }, ['a', 'b']],
    [{ type: 'object', properties: { '*': 'p.tags' } }, ['a', 'b']],
    [{ type: 'object', properties: { '*': 'p.missing' } }, null],
    [
      { type: 'object', properties: { z: 'z', '*': 'p.meta', a: 'mine' } },
      { z: 'z', b: { c: 2 }, a: 'mine' },
    ],
    [{ type: 'object', properties: { z: 'z', '*': 'p.tags' } }, { z: 'z' }],
  ]);
});

test('a view is an object even when its only property is `*`', () => {
  assert.deepEqual(buildView({ '*': 'p.meta' }, entity).view, { a: 1, b: { c: 2 } });
  const { view, diagnostics } = buildView({ '*': 'p.tags' }, entity);
  assert.deepEqual(view, {});
  assert.equal(diagnostics[0]?.kind, 'valueDoesNotFit');
});

test('properties come in the order of the schema, names and values as JSON.stringify writes them', () => {
  const odd = entityOf({ t: 'a"\u2028\ud800\\\n' });
  const { text } = buildView({ zeta: '{p.t}', 'a "b"': '1', alpha: { '*': '$.p' } }, odd);
  const wanted = { zeta: odd.properties.t, 'a "b"': '1', alpha: odd.properties };
  assert.equal(text, JSON.stringify(wanted));
});

test('__proto__ and constructor are names like any other', () => {
  const hostile = entityOf(JSON.parse('{"o": {"__proto__": {"x": 1}, "constructor": 2}}'));
  const schema = JSON.parse(
    '{"__proto__": "{p.o.__proto__.x}", "copy": {"*": "$.p.o"}, "none": "{p.__proto__}"}',
  );
  const { text } = buildView(schema, hostile);
  assert.equal(text, '{"__proto__":"1","copy":{"__proto__":{"x":1},"constructor":2},"none":null}');
});

test('reference: the place of a view, by id or originId; an empty id is null and no reference', () => {
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

test('partial: it sees what it was given, its alias may be an expression, an unknown one gives null', () => {
  const partials = {
    card: {
      properties: {
        title: '{title}',
        via: '{input.title}{item.title}{root.title}',
        items: { type: 'array', input: '{list}', items: '{root.title}:{item}' },
      },
    },
    whole: { properties: { title: '{p.title}', id: '{id}', type: '{type}' } },
  };
  const self = entityOf({ title: 'T', block: { kind: 'card', title: 'B', list: [1, 2] } });
  const use = (input: string, alias: string) => ({ type: 'partial', input, alias });
  const { view, diagnostics } = buildView(
    {
      card: use('{p.block}', '{p.block.kind}'),
      whole: use('{root}', 'whole'),
      empty: use('{p.missing}', 'card'),
      unknown: use('{p.block}', 'x{p.block.kind}'),
      none: use('{p.block}', '{p.missing}'),
    },
    self,
    { partials },
  );
  assert.deepEqual(view, {
    card: { title: 'B', via: 'BBB', items: ['B:1', 'B:2'] },
    whole: { title: 'T', id: 'gid://Source/source-1/Entity/origin-1', type: 'article' },
    empty: { title: null, via: '', items: [] },
    unknown: null,
    none: null,
  });
  assert.deepEqual(
    diagnostics.map(({ kind, place }) => [kind, place]),
    [
      ['partialUnknown', '$.properties.unknown'],
      ['partialUnknown', '$.properties.none'],
    ],
  );
});

test('a lookup gives whole entities, and `input` is the matched one', () => {
  const entities = [
    entity,
    entityOf({ name: 'B', n: 2 }, { originId: 'b', originParentId: 'origin-1', type: 'page', url: '/b' }),
    entityOf({ name: 'A', n: 10 }, { originId: 'a', originParentId: 'origin-1', type: 'page' }),
    entityOf({ name: 'C' }, { originId: 'c', originParentId: 'b', type: 'page' }),
  ];
  const children = (id: string, more: Json = {}) => ({
    $lookup: {
      operator: 'equals',
      sourceEntityProperty: 'originParentId',
      matchValue: id,
      ...(more as object),
    },
  });
  const { view } = buildView(
    {
      ids: { type: 'array', input: children('{originId}'), items: '{input.id}' },
      byN: {
        type: 'array',
        input: children('{originId}', { orderBy: { property: 'n', sort: 'asc' }, top: '1' }),
        items: '{item.p.name}',
      },
      tree: {
        type: 'array',
        input: children('{originId}', { orderBy: { property: 'name' } }),
        var: 'child',
        items: {
          type: 'object',
          properties: {
            name: '{child.p.name} {child.url} {child.type}',
            below: {
              type: 'array',
              input: children('{child.originId}'),
              items: '{item.originId} in {child.originId}',
            },
          },
        },
      },
    },
    entity,
    { entities },
  );
  assert.deepEqual(view, {
    ids: ['gid://Source/source-1/Entity/a', 'gid://Source/source-1/Entity/b'],
    byN: ['B'],
    tree: [
      { name: 'A /one page', below: [] },
      { name: 'B /b page', below: ['c in b'] },
    ],
  });
});
