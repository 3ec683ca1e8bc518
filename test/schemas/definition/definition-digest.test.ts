import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import type { CodeProgram } from '../../../src/schemas/code/program.ts';
import { compileSchemas } from '../../../src/schemas/compile.ts';
import { type PartialDraft, reachablePartials } from '../../../src/schemas/definition/definition-digest.ts';
import { Needs, nullDefinition } from '../../../src/schemas/language/definition.ts';
import { compileValid, schemaOf } from '../support/fixtures.ts';

const use = (alias: string): Json => ({ type: 'partial', input: '{root}', alias });
const lookup = (filter: string): Json => ({ type: 'array', input: { $lookup: { filter } } });

test('definition digest: a digest changes with the definition and every partial that it can reach, and with nothing else', () => {
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

test('definition digest: a schema knows the lookups of all partials that it can reach', () => {
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

test('definition digest: a schema knows the source groups that it and its partials can name', () => {
  const refer = (source: Json): Json => ({ type: 'reference', alias: 'v', originId: '1', source });
  const lookupIn = (source: string): Json => ({
    type: 'array',
    input: { $lookup: { source, filter: "type eq 'a'" } },
  });
  const partials = {
    one: { properties: { x: use('two'), y: refer('blog') } },
    two: { properties: { x: lookupIn('shop') } },
    any: { properties: { x: refer('{input}') } },
  };
  const groups = (a: Json) => {
    const schema = compileValid({ schemas: { v: schemaOf({ a }) }, partials }).schemas.get('v');
    const { sourceGroups = null } = schema ?? {};
    return sourceGroups && [...sourceGroups].sort();
  };
  assert.deepEqual(groups('x'), []);
  assert.deepEqual(groups({ type: 'reference', alias: 'v', originId: '1' }), []);
  assert.deepEqual(groups(lookup("type eq 'a'")), []);
  assert.deepEqual(groups(use('one')), ['blog', 'shop']);
  for (const a of [refer('{type}'), use('any'), use('{type}')]) assert.equal(groups(a), null);
  const program: CodeProgram = {
    ...{ kind: 'full', alias: 'c', file: 'c.full.js', files: [], code: '', map: '', members: [] },
    ...{ triggers: [], index: null, partials: [], lookups: [], names: [] },
  };
  const none = { sourceGroups: [], schemas: new Map(), partials: new Map(), indexes: new Map() };
  const compiled = runSync(compileSchemas({ ...none, code: [program] }));
  assert.equal(compiled.schemas.get('c')?.sourceGroups, null);
});

function needsOf(partials: readonly string[], anyPartial = false): Needs {
  const needs = new Needs();
  for (const alias of partials) needs.partials.add(alias);
  needs.anyPartial = anyPartial;
  return needs;
}

function draft(...partials: string[]): PartialDraft {
  return { json: {}, needs: needsOf(partials), definition: nullDefinition };
}

test('definition digest: circular partials are followed, and a missing one is reported', () => {
  const partials = new Map([
    ['a', draft('b', 'a')],
    ['b', draft('a', 'missing')],
    ['c', draft('b')],
  ]);
  assert.deepEqual(reachablePartials(needsOf(['b']), partials), ['a', 'b', 'missing']);
  assert.deepEqual(reachablePartials(needsOf([]), partials), []);
});

test('definition digest: an alias that is an expression reaches all partials, also from within a partial', () => {
  const partials = new Map([
    ['a', draft()],
    ['z', { ...draft(), needs: needsOf([], true) }],
  ]);
  assert.deepEqual(reachablePartials(needsOf([], true), partials), ['a', 'z']);
  assert.deepEqual(reachablePartials(needsOf(['z']), partials), ['a', 'z']);
  assert.deepEqual(reachablePartials(needsOf(['a']), partials), ['a']);
});
