import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../src/contract/json.ts';
import { spentMs } from '../support/spent.ts';
import { buildView, entityOf } from './support/fixtures.ts';

/** Must finish within a few seconds on a busy machine. */
function soon<T>(work: () => T): T {
  const started = spentMs();
  const result = work();
  assert.ok(spentMs() - started < 10_000, 'it took too long');
  return result;
}

const again = { type: 'partial', input: '{root}', alias: 'loop' };

test('hostile: a partial that calls itself ends with null and a diagnostic', () => {
  const { text, diagnostics } = buildView({ a: again }, entityOf({}), {
    partials: { loop: { properties: { a: again } } },
  });
  assert.equal(text, `${'{"a":'.repeat(33)}null${'}'.repeat(33)}`);
  assert.equal(diagnostics[0]?.kind, 'limitReached');
});

test('hostile: a partial that calls itself many times over ends too', () => {
  const loop = { properties: { a: again, b: again, c: again } };
  const { diagnostics } = soon(() => buildView({ a: again }, entityOf({}), { partials: { loop } }));
  assert.ok(diagnostics.some(({ kind }) => kind === 'limitReached'));
});

test('hostile: the deepest definitions in the deepest partials do not overflow the stack', () => {
  let deep: Json = again;
  for (let i = 0; i < 30; i++)
    deep =
      i % 2 === 0
        ? { type: 'object', properties: { a: deep } }
        : { type: 'array', input: '{p}', items: deep };
  buildView({ a: again }, entityOf({}), { partials: { loop: { properties: { a: deep } } } });
});

test('hostile: nested arrays stop at the step limit, and the view is still valid JSON', () => {
  const list = Array.from({ length: 20_000 }, (_, i) => i);
  const inner = { type: 'array', input: '{p.list}', items: '{item}' };
  const { view, diagnostics } = soon(() =>
    buildView({ a: { type: 'array', input: '{p.list}', items: inner }, b: '1' }, entityOf({ list })),
  );
  assert.ok(typeof view === 'object');
  assert.ok(diagnostics.some(({ kind }) => kind === 'limitReached'));
});

test('hostile: a view does not exceed its limit, whatever is copied into it', () => {
  const entity = entityOf({ big: 'x'.repeat(4_000_000), list: [1, 2, 3, 4, 5, 6, 7, 8] });
  const items = { type: 'object', properties: { a: '{root.p.big}', '*': 'root.p' } };
  const { text, diagnostics } = soon(() =>
    buildView({ a: { type: 'array', input: '{p.list}', items } }, entity),
  );
  assert.ok(text.length < 20_000_000);
  assert.ok(diagnostics.some(({ kind }) => kind === 'limitReached'));
});

test('hostile: data of any depth is copied', () => {
  let deep: Json = 1;
  for (let i = 0; i < 98; i++) deep = i % 2 === 0 ? [deep] : { a: deep };
  const { text } = buildView(
    { all: { '*': '$' }, found: { type: 'array', input: { $path: '$..a' } } },
    entityOf({ deep }),
  );
  const copy: { all: { properties: Json }; found: Json[] } = JSON.parse(text);
  assert.equal(JSON.stringify(copy.all.properties), JSON.stringify({ deep }));
  assert.equal(copy.found.length, 49);
});

test('hostile: the same input produces the same bytes, with limits reached or not', () => {
  const list = Array.from({ length: 3_000 }, (_, i) => ({ i, a: 'x'.repeat(100) }));
  const inner = { type: 'array', input: { $path: 'p.list[?@.i >= 0]' }, items: '{item.a}' };
  const properties = { a: { type: 'array', input: '{p.list}', items: inner } };
  const first = soon(() => buildView(properties, entityOf({ list })));
  assert.equal(buildView(properties, entityOf({ list })).text, first.text);
});
