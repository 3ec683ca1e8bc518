/** The document at `/openapi.json` is true, and generates usable clients. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { consoleFiles } from '../../../src/console/files.mjs';
import { isJsonObject, type Json, type JsonObject } from '../../../src/contract/json.ts';
import { openapiDocument } from '../../../src/http/routing/openapi/openapi-document.ts';
import { compilerSays } from '../../support/type-check.ts';
import { shapeErrors } from '../../system/support/shape-check.ts';
import { startFront } from '../support/front.ts';
import { brokenPrograms, program } from '../support/openapi-program.ts';
import { apiKeys } from '../support/site.ts';

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

test('OpenAPI: an endpoint lists every content type that it sends', async () => {
  const front = await startFront({ services: { consoleFiles } });
  try {
    const { client } = apiKeys;
    const script = [...(await consoleFiles()).keys()].find((name) => name.endsWith('.js'));
    const sent: [template: string, path: string, headers: Record<string, string>, type: string][] = [
      ['/routes/v2', '/routes/v2', {}, 'application/json'],
      ['/routes/v2', '/routes/v2?format=sitemap', {}, 'application/xml'],
      ['/v2', '/v2?handle=x', {}, 'application/json'],
      ['/v2', '/v2?handle=x', { Accept: 'text/event-stream' }, 'text/event-stream'],
      ['/changes/v1', '/changes/v1?live=sse', {}, 'text/event-stream'],
      ['/changes/v1', '/changes/v1', { Accept: 'text/event-stream;q=0' }, 'application/json'],
      ['/console', '/console', {}, 'text/html'],
      ['/console/{view}', '/console/assets/icon.svg', {}, 'image/svg+xml'],
      ['/console/{view}', `/console/assets/${script}`, {}, 'text/javascript'],
      ['/metrics', '/metrics', {}, 'text/plain'],
    ];
    for (const [template, path, headers, type] of sent) {
      const response = await fetch(front.url + path, { headers: { ...headers, 'X-Api-Key': client } });
      await response.body?.cancel();
      assert.deepEqual([response.status, typeOf(response.headers.get('content-type'))], [200, type], path);
      assert.ok(documentedTypes(template).includes(type), `${path}: ${documentedTypes(template)}`);
    }
    const followed = ['/v2', '/changes/v1', '/management/v1/changes'];
    for (const template of followed) {
      assert.deepEqual(documentedTypes(template), ['application/json', 'text/event-stream'], template);
    }
  } finally {
    await front.stop();
  }
});

function typeOf(contentType: string | null): string {
  return contentType?.split(';', 1)[0] ?? '';
}

/** Of the 200 of a GET, without parameters. */
function documentedTypes(template: string): string[] {
  let at: Json = document;
  for (const name of ['paths', template, 'get', 'responses', '200', 'content']) {
    at = isJsonObject(at) ? (at[name] ?? null) : null;
  }
  return isJsonObject(at) ? Object.keys(at).map(typeOf) : [];
}

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
