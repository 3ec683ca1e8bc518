import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Reader, SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { runs } from '../../support/runs.ts';

/** A reader positioned at `|` in the string, which is not part of it. */
function readerAt(marked: string): Reader {
  const position = marked.indexOf('|');
  const reader = new Reader(marked.replace('|', ''));
  reader.position = position;
  return reader;
}

test('reader: a token is read only at the position, and a failed read does not move it', () => {
  const reader = readerAt('a|??b');
  assert.equal(reader.take('b'), false);
  assert.equal(reader.take('???'), false);
  assert.equal(reader.position, 1);
  assert.equal(reader.take('??'), true);
  assert.equal(reader.next, 'b');
  assert.equal(reader.take('b'), true);
  assert.equal(reader.atEnd, true);
  assert.equal(reader.next, '');
});

test('reader: an identifier has letters, digits, _ and $, and starts with no digit', () => {
  const cases: [string, string | null][] = [
    ['|abc.d', 'abc'],
    ['x|_a1$ b', '_a1$'],
    ['|größe-x', 'größe'],
    ['|1a', null],
    ['|-a', null],
    ['a|', null],
  ];
  for (const [marked, wanted] of cases) {
    const reader = readerAt(marked);
    const start = reader.position;
    assert.equal(reader.peekIdentifier(), wanted, marked);
    assert.equal(reader.position, start, marked);
    assert.equal(reader.takeIdentifier(), wanted, marked);
    assert.equal(reader.position, start + (wanted?.length ?? 0), marked);
  }
});

test('reader: a word is read only as a whole identifier', () => {
  assert.equal(readerAt('|and b').takeWord('and'), true);
  assert.equal(readerAt('|and(').takeWord('and'), true);
  assert.equal(readerAt('|android').takeWord('and'), false);
  assert.equal(readerAt('|an').takeWord('and'), false);
});

test('reader: white space is that of JSON', () => {
  const reader = readerAt('| \t\r\n\u00a0x');
  reader.skipSpace();
  assert.equal(reader.position, 4);
  reader.skipSpace();
  assert.equal(reader.position, 4);
});

test('reader: a number is the longest JSON number at the position', () => {
  /** Whether the whole string is a number according to JSON. */
  const isNumber = (text: string): boolean => {
    try {
      return text.trim() === text && typeof JSON.parse(text) === 'number';
    } catch {
      return false;
    }
  };
  const texts = fc.string({ unit: fc.constantFrom(...'-+01.eE9 x'), maxLength: 8 });
  fc.assert(
    fc.property(texts, (text) => {
      const lengths = Array.from({ length: text.length }, (_, at) => text.length - at);
      const wanted = lengths.map((length) => text.slice(0, length)).find(isNumber) ?? null;
      const reader = new Reader(text);
      assert.equal(reader.takeNumber(), wanted);
      assert.equal(reader.position, wanted?.length ?? 0);
    }),
    { numRuns: runs(2_000) },
  );
});

test('reader: an error reports its one-based position, and what is there', () => {
  const cases: [SchemaSyntaxError, number, string][] = [
    [readerAt('ab|cd').expected('`x`'), 2, 'at character 3: expected `x`, found `cd`'],
    [readerAt('ab|').expected('`x`'), 2, 'at character 3: expected `x`, found the end'],
    [
      readerAt(`|${'y'.repeat(100)}`).expected('`x`'),
      0,
      `at character 1: expected \`x\`, found \`${'y'.repeat(12)}…\``,
    ],
    [readerAt('ab|cd').syntaxError('wrong', 'advice', 0), 0, 'at character 1: wrong'],
  ];
  for (const [syntaxError, position, message] of cases) {
    assert.equal(syntaxError.position, position);
    assert.equal(syntaxError.message, message);
  }
  assert.throws(() => readerAt('|a').expect('b'), SchemaSyntaxError);
});

test('reader: nesting is limited by depth, not by how often a level is entered', () => {
  const reader = new Reader('');
  const deep = (levels: number): number => (levels === 0 ? 0 : 1 + reader.nested(() => deep(levels - 1)));
  assert.equal(deep(64), 64);
  for (let times = 0; times < 100; times++) assert.equal(deep(2), 2);
  assert.throws(() => deep(65), SchemaSyntaxError);
});
