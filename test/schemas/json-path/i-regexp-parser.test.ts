import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type PatternNode, parsePattern } from '../../../src/schemas/json-path/i-regexp-parser.ts';
import { SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { runs } from '../../support/runs.ts';

/** A pattern with all groups written; `_` matches a character. */
function shape(node: PatternNode): string {
  switch (node.kind) {
    case 'take':
      return '_';
    case 'start':
      return '^';
    case 'end':
      return '$';
    case 'sequence':
      return node.nodes.map(shape).join('');
    case 'choice':
      return `(${node.nodes.map(shape).join('|')})`;
    case 'repeat':
      return `${shape(node.node)}{${node.min},${node.max}}`;
  }
}

/** The class of a pattern that matches one character. */
function takesOne(pattern: string): (character: string) => boolean {
  const node = parsePattern(pattern);
  const sequence = node.kind === 'choice' ? node.nodes[0] : undefined;
  const only = sequence?.kind === 'sequence' ? sequence.nodes[0] : undefined;
  assert.ok(only?.kind === 'take', pattern);
  return (character) => only.takes(character.codePointAt(0) ?? 0);
}

test('i regexp parser: a quantifier binds to the atom before it, an alternation to the sequences around it', () => {
  assert.equal(shape(parsePattern('ab*|c')), '(__{0,Infinity}|_)');
  assert.equal(shape(parsePattern('(ab)+c?')), '((__){1,Infinity}_{0,1})');
  assert.equal(shape(parsePattern('a{2}b{2,}c{0,3}')), '(_{2,2}_{2,Infinity}_{0,3})');
  assert.equal(shape(parsePattern('^|a$|')), '(^|_$|)');
});

test('i regexp parser: a character of any plane is one atom', () => {
  assert.equal(shape(parsePattern('😀+')), '(_{1,Infinity})');
  assert.equal(takesOne('[😀-😂]')('😁'), true);
});

test('i regexp parser: a class matches what the JavaScript engine matches', () => {
  const classes = fc.constantFrom(
    ...[
      '.',
      '[a-c]',
      '[^a-c]',
      '[-a]',
      '[a-]',
      '[^^]',
      '[a^]',
      '[$.]',
      '[\\]\\\\]',
      '[\\n-\\r]',
      '\\t',
      '\\-',
    ],
    ...['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '[\\d_]', '[^\\s\\d]', '\\p{L}', '\\P{Lu}', '[\\p{Nd}x]'],
  );
  const character = fc.oneof(
    fc.constantFrom(...'abcd^$-.]\\_09 \t\n\r\u2028Éé😀'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  fc.assert(
    fc.property(classes, character, (source, text) => {
      // The two differ only in `.`: of the line terminators, I-Regexp excludes \n and \r.
      const engine = source === '.' ? /[^\n\r]/u : new RegExp(source === '\\-' ? '-' : source, 'u');
      assert.equal(takesOne(source)(text), engine.test(text), `${source} ${JSON.stringify(text)}`);
    }),
    { numRuns: runs(1_000) },
  );
});

test('i regexp parser: JavaScript syntax beyond I-Regexp is an error', () => {
  for (const pattern of [
    '(?:a)',
    '(?=a)',
    'a*?',
    'a++',
    '\\b',
    '\\1',
    '\\u0041',
    '\\p{Script=Greek}',
    '[]',
    '[^]',
  ]) {
    assert.throws(() => parsePattern(pattern), SchemaSyntaxError, pattern);
  }
});

test('i regexp parser: an unterminated pattern and a quantifier without an atom are errors', () => {
  for (const pattern of [
    '(',
    ')',
    '(a',
    '[a',
    '[a-',
    'a{',
    'a{1',
    'a{,2}',
    'a{2,1}',
    '*',
    '|+',
    '\\',
    '[b-a]',
    '}',
  ]) {
    assert.throws(() => parsePattern(pattern), SchemaSyntaxError, pattern);
  }
});

test('i regexp parser: no depth of groups overflows the stack', () => {
  assert.throws(() => parsePattern('('.repeat(50_000)), SchemaSyntaxError);
});
