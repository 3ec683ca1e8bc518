import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import {
  buildWith,
  compileValid,
  compileWithIssues,
  entityOf,
  inputOf,
  type SchemaTexts,
  schemaOf,
} from './support/fixtures.ts';

function places(texts: SchemaTexts): string[] {
  return compileWithIssues(texts).issues.map(({ file, path }) => `${file} ${path}`);
}

test('every mistake of every file is reported, each with its place, a message and advice', () => {
  const { issues } = compileWithIssues({
    schemas: {
      one: {
        trigers: {},
        properties: {
          a: '{p.x',
          b: { type: 'strng', value: '' },
          c: { type: 'number', value: '{title}', precision: -1, default: 'many' },
          'd e': { type: 'array', input: { $pth: 'p' }, items: { value: 'x' }, var: 'root' },
          f: { type: 'reference', id: '1', originId: '2' },
          g: { type: 'partial', input: '{root}' },
          h: { type: 'object', properties: [] },
          i: ['x'],
          j: { '*': '$.p[' },
          k: { type: 'boolean', value: '', default: 'maybe' },
        },
        route: { url: '{p.x', handles: 'x', name: 1 },
        actions: [{ type: 'rebuild' }, { type: 'process', origin: 1 }],
      },
      two: 5,
    },
    partials: { card: { properties: { a: '{b' }, triggers: {} } },
  });
  assert.deepEqual(
    issues.map(({ file, path }) => `${file} ${path}`).sort(),
    [
      'partials/card.json $.properties.a',
      'partials/card.json $.triggers',
      'schemas/one.json $.actions[0].type',
      'schemas/one.json $.actions[1].origin',
      'schemas/one.json $.properties.a',
      'schemas/one.json $.properties.b.type',
      'schemas/one.json $.properties.c.default',
      'schemas/one.json $.properties.c.precision',
      'schemas/one.json $.properties.c.value',
      "schemas/one.json $.properties['d e'].input",
      "schemas/one.json $.properties['d e'].input.$pth",
      "schemas/one.json $.properties['d e'].items",
      "schemas/one.json $.properties['d e'].var",
      'schemas/one.json $.properties.f.alias',
      'schemas/one.json $.properties.f.originId',
      'schemas/one.json $.properties.g.alias',
      'schemas/one.json $.properties.h.properties',
      'schemas/one.json $.properties.i',
      "schemas/one.json $.properties.j['*']",
      'schemas/one.json $.properties.k.default',
      'schemas/one.json $.route.handles',
      'schemas/one.json $.route.name',
      'schemas/one.json $.route.url',
      'schemas/one.json $.triggers',
      'schemas/one.json $.trigers',
      'schemas/two.json $',
      'schemas/two.json $.properties',
      'schemas/two.json $.triggers',
    ].sort(),
  );
  for (const { message, advice } of issues) assert.ok(message.length > 5 && advice.length > 5, message);
  const typo = issues.find(({ path }) => path === '$.properties.b.type');
  assert.match(typo?.advice ?? '', /Did you mean "string"\?/);
});

test('an unknown key anywhere is a mistake', () => {
  const property = (definition: Json) => places({ schemas: { v: schemaOf({ a: definition }) } });
  const definitions: [Json, string][] = [
    [{ type: 'string', value: '', x: 1 }, '.x'],
    [{ type: 'number', value: '', x: 1 }, '.x'],
    [{ type: 'boolean', value: '', x: 1 }, '.x'],
    [{ type: 'array', input: '', x: 1 }, '.x'],
    [{ type: 'array', input: { $path: 'p', x: 1 } }, '.input.x'],
    [{ type: 'array', input: { $lookup: { filter: "type eq 'x'", x: 1 } } }, '.input.$lookup.x'],
    [{ type: 'array', input: { $exp: '{p}', x: 1 } }, '.input.x'],
    [{ type: 'object', properties: {}, x: 1 }, '.x'],
    [{ type: 'reference', alias: 'a', id: '', x: 1 }, '.x'],
    [{ type: 'partial', alias: 'a', input: '', x: 1 }, '.x'],
    [{ '*': 'p', x: 1 }, '.x'],
  ];
  for (const [definition, place] of definitions) {
    const found = property(definition);
    assert.ok(found.includes(`schemas/v.json $.properties.a${place}`), JSON.stringify([definition, found]));
  }
});

test('a definition nested without end is refused, not followed', () => {
  let deep: Json = '{p.x}';
  for (let i = 0; i < 95; i++) deep = { type: 'object', properties: { a: deep } };
  assert.equal(places({ schemas: { v: schemaOf({ a: deep }) } }).length, 1);
});

const indexed = (fields: Json, properties: JsonObject): SchemaTexts => ({
  indexes: { i: { triggers: { cms: ['article'] }, index: { fields }, properties } },
});

test('an index schema has known field types and no references; fields and properties need not pair', () => {
  assert.deepEqual(places(indexed({ a: { type: 'keywrd' } }, { a: '1' })), [
    'indexes/i.json $.index.fields.a.type',
  ]);
  assert.deepEqual(places(indexed({ a: { type: 'keyword' } }, {})), []);
  assert.deepEqual(places(indexed({}, { a: '1' })), []);
  assert.deepEqual(places(indexed({ a: { type: 'long[]' } }, { '*': 'p' })), []);
  assert.deepEqual(places(indexed({ _score: { type: 'float' } }, { _score: '1' })), [
    'indexes/i.json $.index.fields._score',
  ]);
  const reference = { type: 'reference', alias: 'a', id: '{id}' };
  assert.deepEqual(places(indexed({ a: { type: 'object' } }, { a: reference })), [
    'indexes/i.json $.properties.a',
  ]);
  const viaPartial = indexed(
    { a: { type: 'object' } },
    { a: { type: 'partial', input: '{root}', alias: 'c' } },
  );
  assert.deepEqual(places({ ...viaPartial, partials: { c: { properties: { r: reference } } } }), [
    'indexes/i.json $.properties',
  ]);
});

test('a bare hole fills a field that holds no text with the value itself, and a text field with its text', () => {
  const texts = indexed(
    { n: { type: 'double' }, list: { type: 'keyword[]' }, k: { type: 'keyword' }, t: { type: 'double' } },
    { n: '{p.n}', list: '{p.list}', k: '{p.n}', t: '{p.n} m' },
  );
  const schema = compileValid(texts).indexes.get('i');
  const item = schema?.build(inputOf(entityOf({ n: 1.5, list: ['a'] })));
  assert.equal(JSON.stringify(item?.fields), '{"n":1.5,"list":["a"],"k":"1.5","t":"1.5 m"}');
});

test('an index item holds the mapped values', () => {
  const texts = indexed(
    { a: { type: 'keyword[]', metadata: { any: 1 } }, n: { type: 'double' }, o: { type: 'object' } },
    {
      a: { type: 'array', input: '{p.tags}' },
      n: { type: 'number', value: '{p.n}', precision: 1 },
      o: { '*': 'p.o' },
    },
  );
  const schema = compileValid(texts).indexes.get('i');
  const entity = entityOf(JSON.parse('{"tags": ["x", null], "n": "1.25", "o": {"__proto__": 1}}'));
  const item = schema?.build(inputOf(entity));
  assert.equal(JSON.stringify(item?.fields), '{"a":["x",null],"n":1.2,"o":{"__proto__":1}}');
  assert.deepEqual(
    [...(schema?.fields ?? [])],
    [
      ['a', 'keyword[]'],
      ['n', 'double'],
      ['o', 'object'],
    ],
  );
});

test('claims: a usable url or none, handles without empty ones and repetition', () => {
  const claims = (route: Json, properties: JsonObject = {}) => {
    const compiled = compileValid({ schemas: { v: schemaOf({}, { route }) } });
    return compiled.schemas.get('v')?.claims(inputOf(entityOf(properties)));
  };
  assert.deepEqual(claims({ url: '{url}' }), { url: '/one', handles: [] });
  assert.deepEqual(claims({}), { url: null, handles: [] });
  for (const url of ['', 'x', 'ftp://x', null, 9, `/${'x'.repeat(4096)}`]) {
    assert.equal(claims({ url: '{p.u}' }, { u: url })?.url, null, String(url));
  }
  assert.equal(claims({ url: '{p.u}' }, { u: 'https://x.y/z' })?.url, 'https://x.y/z');
  const handles = ['a', '{p.n}', '{p.none}', '{p.e}', 'a', '{p.list}', { $exp: '{p.n}' }, 'x{p.none}'];
  assert.deepEqual(claims({ handles }, { n: 9, e: '', list: ['l', null, 2] })?.handles, [
    'a',
    '9',
    'l',
    '2',
    'x',
  ]);
});

test('actions name the entities and views to process again', () => {
  const run = (actions: Json, properties: JsonObject = {}) => {
    const schema = compileValid({ schemas: { v: schemaOf({}, { actions }) } }).schemas.get('v');
    const resolveSource = (group: string) => (group === 'pim' ? 'source-2' : null);
    return schema?.actions(inputOf(entityOf(properties), { resolveSource }));
  };
  const own = { sourceId: 'source-1', originId: 'origin-1', alias: null };
  assert.deepEqual(run([{ type: 'process' }]), [own]);
  assert.deepEqual(run([{ type: 'process', alias: 'card', originId: '{p.x}' }], { x: 9 }), [
    { ...own, originId: '9', alias: 'card' },
  ]);
  assert.deepEqual(
    run([{ type: 'process', originId: { $exp: '{p.x}' }, source: 'pim' }], { x: ['a', null, 'b'] }),
    [
      { sourceId: 'source-2', originId: 'a', alias: null },
      { sourceId: 'source-2', originId: 'b', alias: null },
    ],
  );
  assert.deepEqual(
    run([
      { type: 'process', originId: '{p.none}' },
      { type: 'process', source: 'other' },
    ]),
    [],
  );
});

const use = (alias: string): Json => ({ type: 'partial', input: '{root}', alias });
const lookup = (filter: string): Json => ({ type: 'array', input: { $lookup: { filter } } });

test('a digest changes with the definition and every partial it can reach, and with nothing else', () => {
  const digest = (a: Json, partials: Record<string, Json>) =>
    compileValid({ schemas: { v: schemaOf({ a }) }, partials }).schemas.get('v')?.digest;
  const partials = (inner: string, other: string) => ({
    one: { properties: { x: use('two') } },
    two: { properties: { x: inner } },
    three: { properties: { x: other } },
  });
  const base = digest(use('one'), partials('i', 'o'));
  assert.match(base ?? '', /^[0-9a-f]{32}$/);
  assert.equal(digest(use('one'), partials('i', 'changed')), base);
  assert.notEqual(digest(use('one'), partials('changed', 'o')), base);
  assert.notEqual(digest(use('two'), partials('i', 'o')), base);
  assert.notEqual(digest(use('{type}'), partials('i', 'o')), digest(use('{type}'), partials('i', 'changed')));
  assert.notEqual(digest(use('none'), {}), digest(use('none'), { none: { properties: {} } }));
  const order = (properties: JsonObject) =>
    compileValid({ schemas: { v: schemaOf(properties) } }).schemas.get('v')?.digest;
  assert.notEqual(order({ a: '1', b: '2' }), order({ b: '2', a: '1' }));
});

test('a schema knows the lookups of all partials it can reach', () => {
  const partials = {
    one: { properties: { x: use('two'), y: lookup("type eq 'a'") } },
    two: { properties: { x: lookup("type eq 'b'") } },
  };
  const types = (a: Json) => {
    const schema = compileValid({ schemas: { v: schemaOf({ a }) }, partials }).schemas.get('v');
    return schema?.lookupPlans.flatMap((plan) => plan.indexes.map(({ type }) => type)).sort();
  };
  assert.deepEqual(types(use('one')), ['a', 'b']);
  assert.deepEqual(types(use('two')), ['b']);
  assert.deepEqual(types(use('{type}')), ['a', 'b']);
  assert.deepEqual(types('x'), []);
});

test('a build names the lookups it met, and again until none is pending', () => {
  const inner = {
    type: 'array',
    input: { $lookup: { filter: 'originParentId eq {item.originId}' } },
    items: '{item.originId}',
  };
  const properties = { a: { type: 'array', input: { $lookup: { filter: "type eq 'page'" } }, items: inner } };
  const compiled = compileValid({ schemas: { v: schemaOf(properties) } });
  const schema = compiled.schemas.get('v');
  assert.ok(schema);
  const first = schema.build(inputOf(entityOf({})));
  assert.equal(first.pending.length, 1);
  assert.deepEqual(first.body.texts, ['{"a":[]}']);
  const page = entityOf({}, { type: 'page', originId: 'page' });
  const second = schema.build(
    inputOf(entityOf({}), { lookup: (query) => (query.id === first.pending[0]?.id ? [page] : undefined) }),
  );
  assert.equal(second.lookups.length, 2);
  assert.equal(second.pending.length, 1);
  const { view } = buildWith(schema, compiled, entityOf({}), {
    entities: [page, entityOf({}, { originParentId: 'page', originId: 'below' })],
  });
  assert.deepEqual(view, { a: [['below']] });
});
