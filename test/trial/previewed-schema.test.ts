/** The check of a tenant with the previewed schema. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withSchemaText } from '../../src/trial/preview/previewed-schema.ts';
import { siteTenant } from '../config/support/site.ts';

test('preview: other work continues while the schemas of a large tenant are checked', async () => {
  const schema = { sourceEntityTypes: ['page'], properties: { title: '$title' } };
  const documents = new Map([['tenants/site/tenant.json', JSON.stringify(siteTenant())]]);
  for (let at = 0; at < 1000; at += 1) {
    documents.set(`tenants/site/schemas/s${at}.full.json`, JSON.stringify(schema));
  }
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  try {
    const asked = { kind: 'full', language: 'json', text: JSON.stringify(schema) } as const;
    assert.equal((await withSchemaText(documents, 'site', asked)).previewed.kind, 'full');
  } finally {
    clearInterval(timer);
  }
  assert.ok(turns >= 3, `${turns} turns of the event loop`);
});
