import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import type { ViewBody } from '../../../src/schemas/build/build-outcome.ts';
import { decodeBody, encodeBody } from '../../../src/store/derived/stored-body.ts';
import { viewTarget } from '../../../src/store/derived/views.ts';
import { runs } from '../../support/runs.ts';

const encoded = (body: ViewBody, sourceId: string): Buffer => finish(encodeBody(body, sourceId));

const text = fc.string({ unit: 'grapheme' });

const name = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);

const bodies: fc.Arbitrary<ViewBody> = fc
  .array(
    fc.oneof(
      fc.record({
        target: fc.record({ environmentId: name, sourceId: name, originId: text, alias: name }),
        viewId: fc.constant(null),
        path: text,
      }),
      fc.record({ target: fc.constant(null), viewId: text, path: text }),
    ),
    { maxLength: 5 },
  )
  .chain((references) =>
    fc
      .array(text, { minLength: references.length + 1, maxLength: references.length + 1 })
      .map((texts) => ({ texts, references })),
  );

test('stored body: a view is restored from its stored form with the same strings and references', () => {
  fc.assert(
    fc.property(bodies, name, (body, sourceId) => {
      const stored = decodeBody(encoded(body, sourceId), sourceId);
      assert.deepEqual(
        stored.texts.map((piece) => piece.toString()),
        body.texts,
      );
      const expected = body.references.map(({ target, viewId, path }) => ({
        target: target && viewTarget(target),
        viewId,
        path,
      }));
      assert.deepEqual(stored.references, expected);
    }),
    { numRuns: runs(300) },
  );
});

test('stored body: a reference within the source of the view does not repeat its id', () => {
  const sourceId = '0b0d6e1c-8a9b-4c57-9d8c-0a1b2c3d4e5f';
  const target = { environmentId: 'e', sourceId, originId: 'o', alias: 'a' };
  const body = { texts: ['{"x":', '}'], references: [{ target, viewId: null, path: '.x' }] };
  const [within, across] = [encoded(body, sourceId), encoded(body, 'another')];
  assert.equal(across.length - within.length, sourceId.length);
  const expected = [{ target: viewTarget(target), viewId: null, path: '.x' }];
  assert.deepEqual(decodeBody(within, sourceId).references, expected);
  assert.deepEqual(decodeBody(across, 'another').references, expected);
});

test('stored body: references of earlier versions to sources with a colon do not match existing views', () => {
  const references = [
    { sourceId: 's:page', alias: 'x', originId: 'y' },
    { sourceId: 's', alias: 'page', originId: 'x:y' },
    { sourceId: '["s', alias: 'page', originId: '","x","y"]' },
    { sourceId: '["s:page', alias: '","x","y"]', originId: '' },
  ].map((target) => ({ target: { ...target, environmentId: 'e' }, viewId: null, path: '.a' }));
  const body = { texts: ['{"a":', '}', '', '', ''], references };
  const identities = decodeBody(encoded(body, 'own'), 'own').references.map(({ target }) => target?.identity);
  assert.equal(new Set(identities).size, references.length);
  assert.equal(identities[1], viewTarget({ sourceId: 's', alias: 'page', originId: 'x:y' }).identity);
});

test('stored body: equal views have equal bytes, however often they were built', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const again = structuredClone(body);
      assert.ok(encoded(body, 'source').equals(encoded(again, 'source')));
    }),
    { numRuns: runs(100) },
  );
});
