import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ArraySplitter } from '../../src/lib/array-splitter.ts';
import { runs } from '../support/runs.ts';

const limits = { elementsMax: 50, elementBytesMax: 1000 };

/** The parsed elements of a body that arrives in pieces of the given sizes; undefined if it is not a JSON array. */
function split(text: string, sizes: readonly number[], allowed = limits): unknown[] | undefined {
  const bytes = Buffer.from(text);
  const elements: unknown[] = [];
  const splitter = new ArraySplitter(
    {
      element: (element, _, whole) =>
        elements.push(whole ? JSON.parse(Buffer.from(element).toString()) : 'cut'),
    },
    allowed,
  );
  try {
    for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 1;
      splitter.push(bytes.subarray(at, at + size));
      at += size;
    }
    splitter.end();
  } catch {
    return undefined;
  }
  return elements;
}

function parseArray(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

test('array splitter: any JSON array is parsed like by JSON.parse, however it is split into pieces', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 12 }),
      sizes,
      fc.nat(2),
      (value, pieces, indent) => {
        const text = JSON.stringify(value, null, indent);
        fc.pre(text.length < limits.elementBytesMax);
        assert.deepEqual(split(text, pieces), JSON.parse(text));
      },
    ),
    { numRuns: runs(500) },
  );
});

test('array splitter: accepts exactly the texts that JSON.parse accepts', () => {
  const fragment = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"a"',
    '"\\""',
    '1',
    'null',
    ' ',
    '"',
    '\\',
    'x',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 10 }), sizes, (fragments, pieces) => {
      for (const text of [fragments.join(''), `[${fragments.join('')}]`]) {
        assert.deepEqual(split(text, pieces), parseArray(text), text);
      }
    }),
    { numRuns: runs(3000) },
  );
});

test('array splitter: an element beyond its limit is truncated, and later ones are still found', () => {
  const body = JSON.stringify([1, { long: 'x'.repeat(2000) }, { a: ']' }]);
  assert.deepEqual(split(body, [7]), [1, 'cut', { a: ']' }]);
});

test('array splitter: one element too many is rejected before it is read', () => {
  assert.equal(split('[1,2,3', [1], { ...limits, elementsMax: 2 }), undefined);
});
