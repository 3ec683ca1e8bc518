import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FilterNode } from '../../../src/schemas/filter/node.ts';
import { SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { parseFilter } from '../support/lookups.ts';

/** A condition with all parentheses, `a` for the path `properties.a`. */
function shape(node: FilterNode): string {
  switch (node.kind) {
    case 'and':
    case 'or':
      return `(${node.nodes.map(shape).join(` ${node.kind} `)})`;
    case 'not':
      return `not ${shape(node.node)}`;
    case 'any':
    case 'all':
      return `${node.path.steps.join('.')}/${node.kind}(${node.variable}: ${shape(node.node)})`;
    case 'compare':
      return [...(node.path.variable === null ? [] : ['@']), ...node.path.steps]
        .join('.')
        .replace('properties.', '');
    default:
      return node.kind;
  }
}

function parsed(text: string): string {
  return shape(parseFilter(text).node);
}

test('parser: `not` binds closest, then `and`, then `or`', () => {
  assert.equal(parsed('p.a eq 1 or p.b eq 1 and p.c eq 1'), '(a or (b and c))');
  assert.equal(parsed('not p.a eq 1 and p.b eq 1 or p.c eq 1'), '((not a and b) or c)');
  assert.equal(
    parsed('(p.a eq 1 or p.b eq 1) and not (p.c eq 1 or p.d eq 1)'),
    '((a or b) and not (c or d))',
  );
  assert.equal(parsed('not not p.a eq 1'), 'not not a');
});

test('parser: white space is optional between tokens', () => {
  assert.equal(parsed(' \n( p.a eq 1\tor(p.b eq 1) ) '), '(a or b)');
  assert.equal(parsed("contains ( p.a , 'x' )"), 'text');
  assert.equal(parsed('p.a in ( 1 , 2 )'), 'in');
  assert.equal(parsed('p.a/any( x : x eq 1 )'), 'properties.a/any(x: @)');
});

test('parser: the steps of a path are separated by dots, slashes and quoted names', () => {
  for (const path of ['p.a.b', 'properties/a/b', "p['a'].b", "properties.a['b']"]) {
    assert.equal(parsed(`${path} eq 1`), 'a.b', path);
  }
  const { node } = parseFilter("p['it''s {{a}} name'] eq 1");
  assert.deepEqual(node.kind === 'compare' && node.path.steps, ['properties', "it's {a} name"]);
});

test('parser: a lambda variable shadows nothing and ends with its lambda', () => {
  assert.equal(parsed('p.a/any(x: x.b eq 1)'), 'properties.a/any(x: @.b)');
  assert.throws(() => parsed('p.a/any(x: x eq 1) and x eq 1'), SchemaSyntaxError);
  assert.throws(() => parsed('p.a/any(x: x/any(x: x eq 1))'), /is already in use/);
  for (const name of ['p', 'type', 'url']) {
    assert.throws(() => parsed(`p.a/any(${name}: ${name} eq 1)`), /is already in use/, name);
  }
});

test('parser: a property called any or all is a step where no parenthesis follows', () => {
  assert.equal(parsed('p.any eq 1'), 'any');
  assert.equal(parsed('p/all eq 1'), 'all');
});

test('parser: `in` spreads a single hole, but no hole in parentheses', () => {
  const spread = (text: string) => {
    const { node } = parseFilter(text);
    return node.kind === 'in' && node.spread;
  };
  assert.equal(spread('p.a in {p.v}'), true);
  assert.equal(spread('p.a in ({p.v})'), false);
});

test('parser: errors are reported with their position', () => {
  const cases: [string, number][] = [
    ['', 0],
    ['p.a', 3],
    ['p.a eq', 6],
    ['p.a is 1', 4],
    ['p.a eq 1 and', 12],
    ['p.a eq 1 p.b eq 1', 9],
    ['(p.a eq 1', 9],
    ['p.a in 1', 7],
    ['p.a in ()', 8],
    ['p.a in (1', 9],
    ['p. eq 1', 2],
    ['p[0] eq 1', 2],
    ['title eq 1', 0],
    ['constructor(p.a, 1)', 0],
    ['contains(p.a)', 12],
    ['p.a constructor 1', 4],
  ];
  for (const [text, position] of cases) {
    assert.throws(() => parsed(text), { name: 'SchemaSyntaxError', position }, text);
  }
});

test('parser: no depth of nesting overflows the stack', () => {
  for (const text of ['('.repeat(99_999), 'not '.repeat(20_000), 'p.a/any(x: '.repeat(9_000)]) {
    assert.throws(() => parsed(text), SchemaSyntaxError, text.slice(0, 20));
  }
});
