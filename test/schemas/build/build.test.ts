import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildStepsMax, diagnosticsPerBuildMax, lookupsPerBuildMax } from '../../../src/contract/limits.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { Build } from '../../../src/schemas/build/build.ts';
import { rootFrame } from '../../../src/schemas/language/scope.ts';
import type { LookupQuery } from '../../../src/schemas/lookup-layout.ts';
import { buildWith, compileValid, entityOf, inputOf, schemaOf } from '../support/fixtures.ts';
import { compiledLookup, queryOf } from '../support/lookups.ts';

const pages = queryOf(compiledLookup({ filter: "type eq 'page'" }), entityOf({}));

test('build: a build stops exactly at its step limit, and reports it once', () => {
  const build = new Build(inputOf(entityOf({})));
  assert.equal(build.spend(buildStepsMax - 1), true);
  assert.equal(build.spend(1), true);
  assert.deepEqual(build.outcome().diagnostics, []);
  assert.equal(build.spend(1), false);
  assert.equal(build.spend(0), false);
  assert.deepEqual(
    build.outcome().diagnostics.map(({ kind, place }) => [kind, place]),
    [['limitReached', '$']],
  );
});

test('build: a lookup with a known result is recorded and not pending', () => {
  const page = entityOf({}, { type: 'page', originId: 'page' });
  const build = new Build(inputOf(entityOf({}), { lookup: () => [page] }));
  assert.deepEqual(build.lookup(pages), [page]);
  assert.deepEqual(build.outcome().lookups, [pages]);
  assert.deepEqual(build.outcome().pending, []);
});

test('build: a lookup without a result returns none for now and is pending once, however often it is repeated', () => {
  const build = new Build(inputOf(entityOf({})));
  assert.deepEqual(build.lookup(pages), []);
  assert.deepEqual(build.lookup(pages), []);
  assert.deepEqual(build.outcome().lookups, [pages]);
  assert.deepEqual(build.outcome().pending, [pages]);
});

test('build: a lookup that nothing can match is not pending', () => {
  const nothing = queryOf(compiledLookup({ filter: 'originId in {p.ids}' }), entityOf({ ids: [] }));
  assert.deepEqual(nothing.keys, []);
  const calls: LookupQuery[] = [];
  const lookup = (query: LookupQuery) => {
    calls.push(query);
    return undefined;
  };
  const build = new Build(inputOf(entityOf({}), { lookup }));
  assert.deepEqual(build.lookup(nothing), []);
  assert.deepEqual(build.outcome().pending, []);
  assert.deepEqual(build.outcome().lookups, [nothing]);
  assert.deepEqual(calls, []);
});

test('build: lookups beyond the limit are empty and diagnosed; earlier ones continue', () => {
  const ids = Array.from({ length: lookupsPerBuildMax + 1 }, (_, at) => `id ${at}`);
  const items = {
    type: 'array',
    input: { $lookup: { filter: 'originId eq {item}' } },
    items: '{item.originId}',
  };
  const compiled = compileValid({
    schemas: { v: schemaOf({ a: { type: 'array', input: '{p.ids}', items } }) },
  });
  const lookup = () => [entityOf({}, { originId: 'found' })];
  const schema = compiled.schemas.get('v');
  assert.ok(schema);
  const built = finish(schema.build(inputOf(entityOf({ ids: [...ids, 'id 0'] }), { lookup })));
  assert.equal(built.lookups.length, lookupsPerBuildMax);
  const found = '["found"],'.repeat(lookupsPerBuildMax);
  assert.deepEqual(built.body.texts, [`{"a":[${found}[],["found"]]}`]);
  assert.deepEqual(
    built.diagnostics.map(({ kind }) => kind),
    ['limitReached'],
  );
});

test('build: the first diagnostic of each kind and path is kept, up to a total limit', () => {
  const build = new Build(inputOf(entityOf({})));
  const report = (kind: 'limitReached' | 'partialUnknown', place: string, message: string) =>
    build.report({ kind, place, message });
  report('limitReached', '$.a', 'first');
  report('limitReached', '$.a', 'second');
  report('partialUnknown', '$.a', 'third');
  report('limitReached', '$.b', 'fourth');
  assert.deepEqual(
    build.outcome().diagnostics.map(({ message }) => message),
    ['first', 'third', 'fourth'],
  );
  for (let at = 0; at <= diagnosticsPerBuildMax; at++) report('limitReached', `$.many[${at}]`, 'more');
  assert.equal(build.outcome().diagnostics.length, diagnosticsPerBuildMax);
});

test('build: a build starts with its entity as root and without lookups', () => {
  const frame = rootFrame(inputOf(entityOf({ title: 'T' })));
  assert.equal(frame.self, frame.build.root);
  assert.equal(frame.value, frame.build.root);
  assert.deepEqual(frame.build.root.properties, { title: 'T' });
  assert.deepEqual(frame.build.outcome(), {
    lookups: [],
    pending: [],
    diagnostics: [],
    failure: null,
  });
});

test('build: a build reports its lookups, and is repeated until none is pending', () => {
  const inner = {
    type: 'array',
    input: { $lookup: { filter: 'originParentId eq {item.originId}' } },
    items: '{item.originId}',
  };
  const properties = { a: { type: 'array', input: { $lookup: { filter: "type eq 'page'" } }, items: inner } };
  const compiled = compileValid({ schemas: { v: schemaOf(properties) } });
  const schema = compiled.schemas.get('v');
  assert.ok(schema);
  const first = finish(schema.build(inputOf(entityOf({}))));
  assert.equal(first.pending.length, 1);
  assert.deepEqual(first.body.texts, ['{"a":[]}']);
  const page = entityOf({}, { type: 'page', originId: 'page' });
  const lookup = (query: LookupQuery) => (query.id === first.pending[0]?.id ? [page] : undefined);
  const second = finish(schema.build(inputOf(entityOf({}), { lookup })));
  assert.equal(second.lookups.length, 2);
  assert.equal(second.pending.length, 1);
  const { view } = buildWith(schema, compiled, entityOf({}), {
    entities: [page, entityOf({}, { originParentId: 'page', originId: 'below' })],
  });
  assert.deepEqual(view, { a: [['below']] });
});
