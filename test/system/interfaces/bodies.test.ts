/**
 * docs/reference/http.md "Conventions" over HTTP: invalid JSON is reported with its position, and byte order marks are skipped.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { indexOfTypes, QueryTenant } from '../support/query-tenant.ts';

const tenant = new QueryTenant('bodies', { indexes: { things: indexOfTypes({ title: 'text' }) } }, {});

const sent = (text: string) => Buffer.from(text);

test('bodies: a body that is not JSON is reported with line, column and what was expected, on every endpoint of ingest', async () => {
  const cases: [body: Buffer, place: string][] = [
    [sent('{"type": "thing",}'), 'line 1, column 18: expected a name in double quotes'],
    [sent('{\n  "type": "thing"\n  "properties": {}}'), 'line 3, column 3: expected `,` or `}`'],
    [sent(''), 'line 1, column 1: expected a value'],
    [Buffer.from('{"type": "caf\u00e9"}', 'latin1'), 'line 1, column 14: expected UTF-8'],
  ];
  for (const [body, place] of cases) {
    for (const [method, path] of [
      ['POST', '/ingest/v2/a'],
      ['POST', '/ingest/v2'],
      ['POST', '/ingest/v1'],
      ['DELETE', '/ingest/v2'],
    ] as const) {
      const { status, json } = await tenant.send(method, path, body);
      assert.equal(status, 422, path);
      assert.equal(json.message, `The body must be JSON in UTF-8 (${place})`, path);
    }
  }
});

test('bodies: an error in a large bulk body names the entity and the position in it', async () => {
  const filler = 'x'.repeat(100_000);
  const good = `{"originId":"a","type":"thing","properties":{"title":"${filler}"}}`;
  const { status, json } = await tenant.send('POST', '/ingest/v2', sent(`[${good},{"originId":"b",}]`));
  assert.equal(status, 422);
  assert.match(json.message, /entities\[1\].*line 1, column 17: expected a name in double quotes/);
});

test('bodies: missing separators or a missing end of a large bulk body are reported with their position', async () => {
  const good = `{"originId":"é","type":"thing","properties":{"title":"${'x'.repeat(100_000)}"}}`;
  const bodies: [string, string][] = [
    [`[${good},\n  ${good}\n${good}]`, 'line 3, column 1: expected `,` or `]`'],
    [`\ufeff[ ${good} x]`, `line 1, column ${good.length + 4}: expected \`,\` or \`]\``],
    [`[${good},,${good}]`, `line 1, column ${good.length + 3}: expected a value`],
    [`[${good},\n${good}`, `line 2, column ${good.length + 1}: expected \`,\` or \`]\``],
    [`[${good}]\n\n!`, 'line 3, column 1: expected the end'],
  ];
  for (const [body, place] of bodies) {
    const { status, json } = await tenant.send('POST', '/ingest/v2', sent(body));
    assert.equal(status, 422, place);
    assert.equal(json.message, `The body must be JSON in UTF-8 (${place})`);
  }
});

test('bodies: invalid JSON in a query is reported with its position', async () => {
  const { status, json } = await tenant.ask(sent('{"filters": nul}') as unknown as Json);
  assert.equal(status, 400);
  assert.match(json.errors[0], /line 1, column 13: expected a value/);
});

test('bodies: a byte order mark at the start of a body is skipped', async () => {
  const entity = '{"originId":"m","type":"thing","properties":{"title":"one"}}';
  const large = `{"originId":"n","type":"thing","properties":{"title":"${'x'.repeat(100_000)}"}}`;
  assert.equal((await tenant.send('POST', '/ingest/v2/m', sent(`\ufeff${entity}`))).status, 200);
  for (const body of [`\ufeff[${entity}]`, `\ufeff[${entity},${large}]`]) {
    const { status, text } = await tenant.send('POST', '/ingest/v2', sent(body));
    assert.equal(status, 200, text);
  }
  const query = await tenant.ask(sent('\ufeff{"pagination":{"pageSize":0}}') as unknown as Json);
  assert.equal(query.status, 200, query.text);
});
