import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partialDepthMax } from '../../../src/contract/limits.ts';
import { buildView, entityOf } from '../support/fixtures.ts';
import { issuesIn } from '../support/property.ts';

test('partial: a partial sees its input, its alias can be an expression, and an unknown alias is null', () => {
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

test('partial: a reference in a partial keeps its path in the view', () => {
  const partials = { card: { properties: { to: { type: 'reference', alias: 'tile', originId: '{id}' } } } };
  const items = { type: 'partial', alias: 'card', input: '{item}' };
  const definition = { type: 'array', input: '{p.list}', items };
  const { references } = buildView({ cards: definition }, entityOf({ list: [{ id: 1 }, { id: 2 }] }), {
    partials,
  });
  assert.deepEqual(
    references.map(({ path, target }) => [path, target?.originId]),
    [
      ['.cards[0].to', '1'],
      ['.cards[1].to', '2'],
    ],
  );
});

test('partial: partials can be nested up to the limit, and one level deeper is null', () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, at) => {
        const next = { type: 'partial', input: '{root}', alias: `p${at + 1}` };
        return [`p${at}`, { properties: at === length - 1 ? { end: '{n}' } : { next } }];
      }),
    );
  const build = (length: number) =>
    buildView({ x: { type: 'partial', input: '{p}', alias: 'p0' } }, entityOf({ n: 7 }), {
      partials: chain(length),
    });
  const whole = build(partialDepthMax);
  assert.match(whole.text, /"end":"7"/);
  assert.deepEqual(whole.diagnostics, []);
  const cut = build(partialDepthMax + 1);
  assert.match(cut.text, /"next":null/);
  assert.deepEqual(
    cut.diagnostics.map(({ kind }) => kind),
    ['limitReached'],
  );
});

test('partial: sibling partials are not nested', () => {
  const partials = { card: { properties: { n: '{root}' } } };
  const list = Array.from({ length: 2 * partialDepthMax }, (_, at) => at);
  const items = { type: 'partial', alias: 'card', input: '{item}' };
  const definition = { type: 'array', input: '{p.list}', items };
  const { view } = buildView({ cards: definition }, entityOf({ list }), { partials });
  assert.deepEqual(view, { cards: list.map((at) => ({ n: String(at) })) });
});

test('partial: requires its input and its alias', () => {
  assert.deepEqual(issuesIn({ type: 'partial' }), ['.input', '.alias']);
  assert.deepEqual(issuesIn({ type: 'partial', input: '{root}', alias: 'a', var: 'x' }), ['.var']);
  assert.deepEqual(issuesIn({ type: 'partial', input: '{x}', alias: '{y}' }), ['.input', '.alias']);
});
