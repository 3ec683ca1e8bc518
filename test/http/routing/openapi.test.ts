/** The document at `/openapi.json` is true, and generates usable clients. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { isJsonObject, type Json, type JsonObject } from '../../../src/contract/json.ts';
import { openapiDocument } from '../../../src/http/routing/openapi/openapi-document.ts';
import { compilerSays } from '../../support/type-check.ts';
import { shapeErrors } from '../../system/support/shape-check.ts';
import { brokenPrograms, program } from '../support/openapi-program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const document = JSON.parse(JSON.stringify(openapiDocument(['X-Service']))) as JsonObject;

/** Within the project, so that the program finds its packages. */
const cacheDir = path.join(root, 'node_modules', '.cache');
mkdirSync(cacheDir, { recursive: true });
const dir = mkdtempSync(path.join(cacheDir, 'openapi-client-'));
after(() => rmSync(dir, { recursive: true, force: true }));

test('OpenAPI: the version of the document is that of the package', () => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as JsonObject;
  assert.equal(isJsonObject(document.info ?? null) && (document.info as JsonObject).version, version);
});

test('OpenAPI: every example agrees with its schema', () => {
  let count = 0;
  for (const { at, place } of objectsIn(document, '$')) {
    const { schema, example } = at;
    if (example === undefined || schema === undefined || !isJsonObject(schema)) continue;
    assert.deepEqual(shapeErrors(document, schema, example), [], place);
    count += 1;
  }
  for (const { at, place } of objectsIn(document, '$')) {
    if (!Array.isArray(at.examples)) continue;
    for (const example of at.examples) assert.deepEqual(shapeErrors(document, at, example), [], place);
    count += 1;
  }
  assert.ok(count > 25, `${count} examples`);
});

test('OpenAPI: every object declares its members, or that any are allowed', () => {
  for (const { at, place } of objectsIn(document, '$')) {
    if (at.type !== 'object' || place.includes('.example')) continue;
    assert.ok(at.properties !== undefined || at.additionalProperties !== undefined, place);
  }
});

test('OpenAPI: an ordinary program with a generated client compiles under tsc --strict', async () => {
  const types = await openapiTS(JSON.stringify(document));
  writeFileSync(path.join(dir, 'api.d.ts'), astToString(types));
  const output = await compile({ program, ...brokenPrograms });
  const withErrors = new Set([...output.matchAll(/^(\w+)\.ts\(/gm)].map(([, name]) => name));
  assert.deepEqual([...withErrors].sort(), Object.keys(brokenPrograms).sort(), output);
});

/** Compiles programs by name, all in one call: each is a separate module. @returns the output of the compiler */
function compile(programs: Readonly<Record<string, string>>): Promise<string> {
  const files = Object.keys(programs).map((name) => `${name}.ts`);
  for (const [name, text] of Object.entries(programs)) writeFileSync(path.join(dir, `${name}.ts`), text);
  const words = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck'];
  return compilerSays([...words, ...files], dir);
}

function* objectsIn(value: Json, place: string): Iterable<{ at: JsonObject; place: string }> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* objectsIn(item, `${place}[${index}]`);
  } else if (isJsonObject(value)) {
    yield { at: value, place };
    for (const [name, member] of Object.entries(value)) yield* objectsIn(member, `${place}.${name}`);
  }
}
