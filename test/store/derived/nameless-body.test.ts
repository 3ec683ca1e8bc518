import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import type { ReferencePiece, ViewBody } from '../../../src/schemas/build/build-outcome.ts';
import {
  type NamelessBody,
  namesDigestOfBody,
  withNames,
  withoutNames,
} from '../../../src/store/derived/nameless-body.ts';
import { encodeBody } from '../../../src/store/derived/stored-body.ts';
import { runs } from '../../support/runs.ts';

const sourceId = '0b0d6e1c-8a9b-4c57-9d8c-0a1b2c3d4e5f';

/** Placeholder for a reference in the JSON. */
const mark = 'a reference stands here';

/** The body of a view, split at the placeholders. */
function bodyOf(view: Json): ViewBody {
  const texts = JSON.stringify(view).split(JSON.stringify(mark));
  const references = texts.slice(1).map((_, at): ReferencePiece => {
    const target = { environmentId: 'e', sourceId, originId: `o${at}`, alias: 'card' };
    return at % 2 === 0
      ? { target, viewId: null, path: `.a[${at}]` }
      : { target: null, viewId: 'no id', path: '' };
  });
  return { texts, references };
}

const encoded = (view: Json): Buffer => finish(encodeBody(bodyOf(view), sourceId));

/** The stored form of a view after enough views with the same names that they are omitted; null if they never are. */
function shared(body: Buffer): NamelessBody | null {
  for (let times = 0; times < 70; times += 1) {
    const nameless = withoutNames(body);
    if (nameless !== null) return nameless;
  }
  return null;
}

const names = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('__proto__', '7', '\ud800', '"', '\\', '\\"', ',"a":', '}', ']', ''),
);
const values = fc.oneof(fc.jsonValue(), fc.constant(mark), fc.array(fc.constantFrom(mark, 1, '}]"\\')));
const views = fc.dictionary(names, values, { maxKeys: 12 }).map((view) => ({ ...view }) as JsonObject);

test('nameless body: a view that omits its names round-trips byte for byte', () => {
  fc.assert(
    fc.property(views, (view) => {
      const body = encoded(view);
      const nameless = shared(body);
      assert.equal(nameless !== null, Object.keys(view).length > 0);
      if (nameless === null) return;
      const { stored, list } = nameless;
      assert.deepEqual(list.names, Object.keys(JSON.parse(JSON.stringify(view)) as JsonObject));
      assert.ok(namesDigestOfBody(stored)?.equals(list.digest));
      assert.equal(namesDigestOfBody(body), null);
      assert.ok(withNames(stored, list.names).equals(body));
    }),
    { numRuns: runs(300) },
  );
});

test('nameless body: views that are not objects, are empty or are large are stored unchanged', () => {
  const large = { text: 'x'.repeat(5_000) };
  for (const view of [{}, [], [1, { a: 2 }], 'text', '{"a":1}', 7, null, mark, large]) {
    assert.equal(shared(encoded(view)), null, JSON.stringify(view).slice(0, 20));
  }
});

test('nameless body: names that no two views share stay in the body', () => {
  for (let at = 0; at < 200; at += 1) assert.equal(withoutNames(encoded({ [`only of ${at}`]: 1 })), null);
});

test('nameless body: a view without its names is smaller by almost all of their bytes', () => {
  const body = encoded({ population: 2_800_000, timezone: 'Europe/Rome', country: mark });
  const nameless = shared(body);
  assert.ok(nameless);
  const ofNames = '"population":"timezone":"country":'.length;
  assert.equal(body.length - nameless.stored.length, ofNames - 1 - nameless.list.digest.length);
});
