/** The JSON Schemas for editors and `check` agree on the form of configuration files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from '@modelcontextprotocol/client/validators/ajv';
import { newSite } from '../../src/cli/site/new-site.ts';
import { parseDocumentPath } from '../../src/config/document-path.ts';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import { readDocuments } from '../../src/config/documents/read-documents.ts';
import { jsonSchemas } from '../../src/config/json-schemas.ts';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import { siteTenant } from './support/site.ts';

type Kind = keyof typeof jsonSchemas;

const ajv = new Ajv({ strict: false, allErrors: false });
const validators = new Map(
  Object.entries(jsonSchemas).map(([kind, { $schema: _, ...schema }]) => [kind, ajv.compile(schema)]),
);

/** The error of a JSON Schema for a file, on one line, or null. */
function refusal(kind: Kind, json: unknown): string | null {
  const validate = validators.get(kind);
  assert.ok(validate !== undefined);
  return validate(json) ? null : ajv.errorsText(validate.errors);
}

function kindOf(file: string): Kind | null {
  const place = parseDocumentPath(file);
  if (place === null || !file.endsWith('.json')) return null;
  if (place.kind === 'tenant') return 'tenant';
  const kinds: Readonly<Record<string, Kind>> = { schemas: 'schema', partials: 'partial', indexes: 'index' };
  return kinds[place.kind] ?? null;
}

const tenantFile = 'tenants/site/tenant.json';

/** A tenant with every member that its files can have. */
const files: Readonly<Record<string, JsonObject>> = {
  [tenantFile]: {
    $schema: '../../json-schemas/tenant.json',
    ...siteTenant(),
    urls: { caseInsensitive: true },
    environmentClients: [
      {
        name: 'website',
        environment: 'production',
        domains: ['site'],
        scopes: ['delivery', 'Query'],
        indexes: ['blog*', 'cms:*'],
        origins: ['https://www.example.com'],
        cacheControl: 'public, max-age=60',
        cacheTags: 'Cache-Tag',
        depth: 2,
        apiKeys: ['client-key', `sha256:${'0'.repeat(64)}`],
      },
    ],
    managementClients: [{ name: 'ci', scopes: ['read'], apiKeys: ['management-key'] }],
    webhooks: [
      {
        alias: 'hook',
        environment: 'production',
        url: 'https://example.com/hook',
        secret: ['whsec_AAAA', 'whsec_AAAB'],
        schemas: ['page'],
        destination: true,
        expand: 'shown',
        batch: { size: 10, seconds: 2 },
        headers: { 'X-Api-Key': 'secret' },
        format: 'standard',
      },
    ],
  },
  'tenants/site/schemas/page.json': {
    $schema: '../../../json-schemas/schema.json',
    triggers: { cms: ['page'] },
    sourceEntityTypes: ['note'],
    route: { url: '{url}', handles: ['page-{originId}', { $exp: '{p.handle}' }] },
    properties: {
      short: '{p.title}',
      five: 5,
      yes: true,
      none: null,
      text: { type: 'string', value: { $exp: '{p.title}' }, default: 'none' },
      size: { type: 'number', value: '{p.size}', default: 0, precision: 2 },
      isNew: { type: 'boolean', value: '{p.new}', default: 'FALSE' },
      inner: { type: 'object', properties: { a: '{p.a}', '*': 'p.content' } },
      list: { type: 'array', input: '{p.tags}', items: '{tag}', var: 'tag' },
      paths: { type: 'array', input: { $path: '$.p.tags[*]' } },
      found: {
        type: 'array',
        input: {
          $lookup: {
            filter: "type eq 'page'",
            orderBy: { property: 'title', sort: 'asc' },
            top: 5,
            source: 'cms',
          },
        },
        items: { type: 'reference', alias: 'page', id: '{item.id}' },
      },
      matched: {
        type: 'array',
        input: {
          $lookup: {
            operator: 'equals',
            sourceEntityProperty: 'tag',
            matchValue: '{p.tag}',
            sourceEntityType: 'page',
          },
        },
      },
      next: { type: 'reference', view: 'page', originId: '{p.next}', source: 'cms' },
      card: { type: 'partial', alias: 'card', input: '{p}' },
      any: { '*': 'p.content' },
      dynamic: { type: 'dynamic', value: 'p.content' },
    },
    actions: [{ type: 'process', alias: 'page', originId: '{p.next}', source: 'cms' }],
    destinations: [{ alias: 'hook', options: { objectId: '{originId}' } }],
  },
  'tenants/site/partials/card.json': { alias: 'card', properties: { title: '{title}' } },
  'tenants/site/indexes/pages.json': {
    triggers: { cms: ['page'] },
    index: {
      fields: {
        title: { type: 'text', language: 'en', foldAccents: true, metadata: { label: 'Title' } },
        size: { type: 'integer' },
      },
      synonyms: [['tv', 'television'], { from: 'iphone', to: ['phone'] }],
      metadata: { label: 'Pages' },
    },
    properties: { title: '{p.title}', size: '{p.size}' },
  },
};

/** Of a file of another form next to the tenant's own. */
function issuesOf(changed: Readonly<Record<string, Json>>): readonly string[] {
  const texts = Object.entries({ [tenantFile]: files[tenantFile] ?? {}, ...changed }).map(
    ([file, json]) => [file, JSON.stringify(json)] as const,
  );
  const outcome = loadConfiguration(new Map(texts));
  return outcome.ok ? [] : outcome.issues.map(({ message }) => message);
}

test('JSON schemas: every configuration in the demo, new sites and the docs is accepted', async () => {
  const demo = await readDocuments(fileURLToPath(new URL('../../config', import.meta.url)));
  const site = [...newSite('site')].map(([file, text]) => [file.replace(/^config\//, ''), text] as const);
  const kinds = new Set<Kind>();
  for (const [file, text] of [...demo.documents, ...site]) {
    const kind = kindOf(file);
    if (kind === null) continue;
    kinds.add(kind);
    assert.equal(refusal(kind, JSON.parse(text)), null, file);
  }
  assert.deepEqual([...kinds].sort(), ['index', 'partial', 'schema', 'tenant']);
});

/** Every value inside a value, with a function that returns the whole with another value in its position. */
function* placesIn(
  json: Json,
  put: (value: Json | undefined) => Json,
): Generator<[string, (value: Json | undefined) => Json]> {
  if (typeof json !== 'object' || json === null) return;
  for (const [name, value] of Object.entries(json)) {
    const putHere = (other: Json | undefined): Json => {
      const copy = Array.isArray(json) ? [...json] : { ...json };
      if (other === undefined) Array.isArray(copy) ? copy.splice(Number(name), 1) : delete copy[name];
      else Object.assign(copy, { [name]: other });
      return put(copy);
    };
    yield [name, putHere];
    for (const [below, putBelow] of placesIn(value, putHere)) yield [`${name}.${below}`, putBelow];
  }
  if (!Array.isArray(json)) yield ['unknown-key', (value) => put({ ...json, 'unknown-key': value ?? null })];
}

/** Errors of form: types of values and keys, whatever the values mean. */
const isForm =
  /^(?:unknown key|must be (?:a string|an object|a list|true or false, is (?!"))|this key is missing|`type` is missing|there is no (?:property|field) type|missing$)/;

test('JSON schemas: `check` rejects what an editor rejects, and an editor rejects what `check` rejects for its form', () => {
  assert.deepEqual(issuesOf(files), []);
  const values: readonly (Json | undefined)[] = [undefined, null, -1.5, '', [7], { x: 1 }];
  const apart: string[] = [];
  let both = 0;
  for (const [file, json] of Object.entries(files)) {
    const kind = kindOf(file);
    assert.ok(kind !== null);
    assert.equal(refusal(kind, json), null, file);
    for (const [place, put] of placesIn(json, (value) => value ?? null)) {
      for (const value of values) {
        const changed = put(value);
        const issues = issuesOf({ [file]: changed });
        const refused = refusal(kind, changed);
        const isRefused = issues.length > 0;
        const mustRefuse = issues.some((message) => isForm.test(message));
        if ((refused !== null && !isRefused) || (refused === null && mustRefuse))
          apart.push(`${file} ${place} = ${JSON.stringify(value)}: ${refused ?? issues.join(', ')}`);
        if (refused !== null) both += 1;
      }
    }
  }
  assert.deepEqual(apart, []);
  assert.ok(both > 500, String(both));
});

test('JSON schemas: $schema is accepted only at the root of a file, as a string, and changes no view', () => {
  const page = 'tenants/site/schemas/page.json';
  const digestOf = (file: JsonObject) => {
    const texts = Object.entries({ ...files, [page]: file }).map(
      ([name, json]) => [name, JSON.stringify(json)] as const,
    );
    const outcome = loadConfiguration(new Map(texts));
    assert.ok(outcome.ok);
    return outcome.configuration.tenants.get('site')?.schemas.get('page')?.digest;
  };
  const { $schema: _, ...bare } = files[page] ?? {};
  assert.equal(digestOf({ $schema: 'other.json', ...bare }), digestOf(bare as JsonObject));
  assert.deepEqual(issuesOf({ [page]: { ...bare, $schema: 5 } as JsonObject }), [
    'must be a string, is a number',
  ]);
  assert.deepEqual(issuesOf({ [page]: { ...bare, route: { $schema: 'x' } } as JsonObject }), [
    'unknown key "$schema"',
  ]);
});
