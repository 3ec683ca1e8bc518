import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../src/contract/json.ts';
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
