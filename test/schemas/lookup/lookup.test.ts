import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { compileWithIssues, entityOf } from '../support/fixtures.ts';
import { find, lookupSchema } from '../support/lookups.ts';

function issuesOf(lookup: Json): string[] {
  const { issues } = compileWithIssues({ schemas: { view: lookupSchema(lookup) } });
  return issues.map(
    ({ path, message }) => `${path.replace('$.properties.found.input.$lookup', '')} ${message}`,
  );
}

test('lookup: property match compares scalars by their string, and null matches nothing', () => {
  const stored = [9, '9', '09', null, ['9'], true, 'true'].map((v, i) =>
    entityOf({ v }, { originId: `o${i}` }),
  );
  const match = (operator: string, m: Json) =>
    find({ operator, sourceEntityProperty: 'v', matchValue: '{p.m}' }, stored, { m });
  assert.deepEqual(match('equals', 9), ['o0', 'o1']);
  assert.deepEqual(match('equals', '9'), ['o0', 'o1']);
  assert.deepEqual(match('equals', true), ['o5', 'o6']);
  assert.deepEqual(match('equals', null), []);
  assert.deepEqual(match('equals', [9]), []);
  assert.deepEqual(match('contains', 9), ['o1', 'o2', 'o4']);
  assert.deepEqual(match('contains', ''), ['o1', 'o2', 'o6']);
  assert.deepEqual(match('contains', null), []);
});

test('lookup: filters are typed: 9 is not `9`, absent is null', () => {
  const stored = [9, '9', null, undefined, [9]].map((v, i) =>
    entityOf(v === undefined ? {} : { v }, { originId: `o${i}` }),
  );
  const cases: [string, string[]][] = [
    ['properties.v eq 9', ['o0']],
    ["properties.v eq '9'", ['o1']],
    ['properties.v eq null', ['o2', 'o3']],
    ['properties.v ne 9', ['o1', 'o2', 'o3', 'o4']],
    ['properties.v gt 8', ['o0']],
    ["properties.v ge '8'", ['o1']],
    ['not (properties.v lt 10)', ['o1', 'o2', 'o3', 'o4']],
    ['properties.v/any(x: x eq 9)', ['o0', 'o4']],
    ['properties.v/all(x: x eq 9)', ['o0', 'o2', 'o3', 'o4']],
    ["properties['v'] in (9, '9')", ['o0', 'o1']],
    ["originId eq 'o0' or originId eq 'o3'", ['o0', 'o3']],
    ["contains(originId, '3')", ['o3']],
    ["startswith(type, 'art') and endswith(type, 'cle') and p.v eq 9", ['o0']],
  ];
  for (const [filter, wanted] of cases) assert.deepEqual(find({ filter }, stored), wanted, filter);
});

test('lookup: the property to order by can be written like an item has it', () => {
  const stored = [2, 1, 3].map((rank) => entityOf({ seo: { rank } }, { originId: `o${rank}` }));
  for (const property of [
    'seo.rank',
    'p.seo.rank',
    'properties.seo.rank',
    '{item.seo.rank}',
    '{item.p.seo.rank}',
  ]) {
    const filter = "type eq 'article'";
    assert.deepEqual(find({ filter, orderBy: { property } }, stored), ['o1', 'o2', 'o3'], property);
    assert.deepEqual(
      find({ filter, orderBy: { property, sort: 'desc' } }, stored),
      ['o3', 'o2', 'o1'],
      property,
    );
  }
});

test('lookup: no value of an entity changes the meaning of a filter', () => {
  const stored = [
    entityOf({ v: "x' or 'a' eq 'a" }, { originId: 'o1' }),
    entityOf({ v: 'y' }, { originId: 'o2' }),
  ];
  for (const filter of [
    'properties.v eq {p.q}',
    "properties.v eq '{p.q}'",
    'properties.v in {p.q}',
    'properties.v in ({p.q})',
  ]) {
    assert.deepEqual(find({ filter }, stored, { q: "x' or 'a' eq 'a" }), ['o1'], filter);
  }
  assert.deepEqual(find({ filter: "properties.v eq '{{p.q}}'" }, [entityOf({ v: '{p.q}' })]), ['origin-1']);
  assert.deepEqual(find({ filter: "properties.v eq '{p.q}'" }, [entityOf({})], { q: null }), []);
});

test('lookup: errors in a lookup are reported with their path', () => {
  assert.deepEqual(issuesOf({ filter: "type = 'x'" }), [
    ".filter at character 6: expected one of eq, ne, gt, ge, lt, le, in, found `= 'x'`",
  ]);
  assert.match(issuesOf({ filter: "title eq 'x'" })[0] ?? '', /an entity has no field `title`/);
  assert.match(issuesOf({ filter: "type EQ 'x'" })[0] ?? '', /character 6: there is no operator `EQ`/);
  assert.match(issuesOf({ filter: "type eq 'x" })[0] ?? '', /character 9: unterminated string/);
  assert.match(
    issuesOf({ filter: "type eq 'x' type" })[0] ?? '',
    /character 13: expected `and`, `or` or the end/,
  );
  assert.match(issuesOf({ filter: 'type eq {title}' })[0] ?? '', /unknown name `title`/);
  assert.match(issuesOf({ filter: 'length(type) eq 1' })[0] ?? '', /there is no function `length`/);
  assert.match(issuesOf({ filter: `${'('.repeat(500)}type eq 'x'` })[0] ?? '', /nested deeper/);
  assert.match(issuesOf({ filter: 'properties.a/any(type: type eq 1)' })[0] ?? '', /is already in use/);
  assert.deepEqual(issuesOf({ operator: 'is', sourceEntityProperty: 3, tops: 1 }), [
    '.tops unknown key "tops"',
    '.sourceEntityProperty must be a string, is a number',
    '.matchValue this key is missing',
    '.operator must be `equals` or `contains`, is "is"',
  ]);
  assert.deepEqual(
    issuesOf({ filter: "type eq 'x'", orderBy: { property: 'a', sort: 'up' }, top: 'ten', source: '{p.x}' }),
    [
      '.source the source group of a lookup cannot be an expression',
      '.orderBy.sort must be `asc` or `desc`, is "up"',
      '.top must be a number, 0 or more, is "ten"',
    ],
  );
});
