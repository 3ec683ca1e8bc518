import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileWithIssues } from './support/fixtures.ts';

test('compile: every error in every file is reported with its path, a message and a hint', () => {
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
