import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { viewCharactersMax } from '../../../src/contract/limits.ts';
import { Build } from '../../../src/schemas/build/build.ts';
import { BodyWriter, ItemWriter } from '../../../src/schemas/build/view-body.ts';
import { runs } from '../../support/runs.ts';
import { entityOf, inputOf, textOf } from '../support/fixtures.ts';

function newBuild(): Build {
  return new Build(inputOf(entityOf({})));
}

/** The kinds of the diagnostics of a build. */
function kindsOf(build: Build): string[] {
  return build.outcome().diagnostics.map(({ kind }) => kind);
}

const card = { environmentId: 'e', sourceId: 's', originId: 'o', alias: 'card' };
const meant = { target: card, viewId: null };

/** Writes a value through the writer; `<…>` in a string is a reference to the view in the brackets. */
function write(json: Json, body: BodyWriter): void {
  if (typeof json === 'string' && json.startsWith('<')) {
    body.reference({ target: null, viewId: json.slice(1, -1) });
    return;
  }
  if (typeof json !== 'object' || json === null) {
    body.value(JSON.stringify(json));
    return;
  }
  const isArray = Array.isArray(json);
  body.mark(isArray ? '[' : '{');
  for (const [index, [name, value]] of Object.entries(json).entries()) {
    body.mark(`${index === 0 ? '' : ','}${isArray ? '' : `${JSON.stringify(name)}:`}`);
    body.enter(isArray ? `[${name}]` : `.${name}`);
    write(value, body);
    body.leave();
  }
  body.mark(isArray ? ']' : '}');
}

/** The references of a value as `write` reads it, with their paths, in order. */
function referencesIn(json: Json, path = ''): string[] {
  if (typeof json === 'string') return json.startsWith('<') ? [`${path} ${json}`] : [];
  if (typeof json !== 'object' || json === null) return [];
  const isArray = Array.isArray(json);
  return Object.entries(json).flatMap(([name, value]) =>
    referencesIn(value, `${path}${isArray ? `[${name}]` : `.${name}`}`),
  );
}

test('view body: strings and references together are the JSON that was written, each reference with its path', () => {
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, 7, 'text', '<one>', '<two>'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }) as fc.Arbitrary<JsonObject>,
    ),
  }));
  fc.assert(
    fc.property(value, (json) => {
      const writer = new BodyWriter(newBuild());
      write(json, writer);
      const body = writer.finish();
      assert.equal(textOf(body), JSON.stringify(json));
      assert.equal(body.texts.length, body.references.length + 1);
      assert.deepEqual(
        body.references.map(({ path, viewId }) => `${path} <${viewId}>`),
        referencesIn(json),
      );
    }),
    { numRuns: runs(500) },
  );
});

test('view body: a member is its punctuation, its name and its value', () => {
  const body = new BodyWriter(newBuild());
  assert.equal(body.member('{', 'a "b"', '1'), true);
  assert.equal(body.member(',', '__proto__', '2'), true);
  body.mark('}');
  assert.deepEqual(body.finish().texts, ['{"a \\"b\\"":1,"__proto__":2}']);
});

test('view body: a view can have as many characters as its limit, and one more is diagnosed', () => {
  const build = newBuild();
  const body = new BodyWriter(build);
  body.mark('[');
  body.value('x'.repeat(viewCharactersMax - 1));
  assert.equal(body.isFull, false);
  assert.deepEqual(kindsOf(build), []);
  body.value('1');
  assert.equal(body.isFull, true);
  assert.deepEqual(kindsOf(build), ['limitReached']);
});

test('view body: a value that does not fit is null or omitted, and the punctuation around it is still written', () => {
  const build = newBuild();
  const body = new BodyWriter(build);
  body.mark('[');
  body.value(`"${'x'.repeat(viewCharactersMax)}"`);
  body.mark(',');
  body.reference(meant);
  body.mark(',{');
  assert.equal(body.member('', 'a', '1'), false);
  body.mark('}]');
  const { texts, references } = body.finish();
  assert.deepEqual(texts, ['[null,null,{}]']);
  assert.deepEqual(references, []);
  assert.deepEqual(kindsOf(build), ['limitReached']);
});

test('view body: references count with their ids, so that their number is bounded, too', () => {
  const long = { target: { ...card, originId: 'o'.repeat(viewCharactersMax / 4) }, viewId: null };
  const body = new BodyWriter(newBuild());
  for (let times = 0; times < 5; times++) body.reference(long);
  assert.equal(body.finish().references.length, 3);
});

test('view body: a reference in an index item is null', () => {
  const item = new ItemWriter(newBuild());
  item.mark('[');
  item.reference();
  item.mark(']');
  assert.deepEqual(item.finish(), { texts: ['[null]'], references: [] });
});
