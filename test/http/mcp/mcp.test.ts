import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { QueryRequest, QueryService } from '../../../src/query/query-service.ts';
import { resultText } from '../../../src/query/result/result-text.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { shapeErrors } from '../../system/support/shape-check.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView, viewIdOf } from '../support/seed.ts';
import { environmentId, sourceId } from '../support/site.ts';

const key = { reader: 'reader-key', narrow: 'narrow-key', manager: 'manager-key', source: 'source-key' };
const asked: QueryRequest[] = [];
let front: TestFront;

const tenantFile = {
  environments: [{ id: environmentId, alias: 'production' }],
  sourceGroups: [
    {
      alias: 'cms',
      sources: [{ id: sourceId, name: 'CMS', environments: ['production'], apiKeys: [key.source] }],
    },
  ],
  domains: [{ alias: 'site', hostnames: ['*'] }],
  environmentClients: [
    { name: 'reader', environment: 'production', domains: ['site'], apiKeys: [key.reader] },
    {
      name: 'narrow',
      environment: 'production',
      domains: ['site'],
      apiKeys: [key.narrow],
      scopes: ['query'],
      indexes: ['cit*'],
    },
  ],
  managementClients: [{ name: 'manager', apiKeys: [key.manager] }],
};

const index = (fields: object, metadata?: string) => ({
  triggers: { cms: ['page'] },
  index: { fields, ...(metadata === undefined ? {} : { metadata }) },
  properties: { name: '{p.name}' },
});

before(async () => {
  const outcome = loadConfiguration(
    new Map(
      Object.entries({
        'tenants/one/tenant.json': tenantFile,
        'tenants/one/indexes/cities.json': index(
          { name: { type: 'text', metadata: { description: 'in its own language' } } },
          'Cities of the world',
        ),
        'tenants/one/indexes/people.json': index({ name: { type: 'keyword' } }),
      }).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
  );
  assert.ok(outcome.ok);
  const query: QueryService = {
    run: async (_, requests) => {
      asked.push(...requests);
      return requests.map(({ body }) =>
        JSON.stringify(body).includes('bad')
          ? { ok: false, status: 400, errors: ['search.field: there is no field bad'] }
          : {
              ok: true,
              result: { kind: 'text', text: resultText(0, [], { facets: [], nextPageToken: null }) },
              subject: 'items',
              configuration: null,
            },
      );
    },
  };
  const configuration = { loaded: true, current: outcome.configuration, layouts: LayoutStates.none };
  front = await startFront({ services: { configuration, query } });
  await putView(front.store, 'a', 'A');
  await putClaim(front.store, 'a', { url: '/a' });
});
after(() => front.stop());

/** A client of the official package, connected with a key. */
async function connected(context: test.TestContext, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${front.url}/mcp`), { requestInit: { headers } }),
  );
  context.after(() => client.close());
  return client;
}

async function call(client: Client, name: string, given: Record<string, unknown>) {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  const [first] = content;
  assert.ok(first?.type === 'text');
  return { isError, json: JSON.parse(first.text) };
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
const everyTool = [
  ...['deliver_by_url', 'deliver_by_handle', 'deliver_by_id', 'list_routes'],
  ...['query_cities', 'query_people'],
];

test('MCP: an environment key has tools for what its scopes allow it to read', async (context) => {
  const client = await connected(context, { 'X-Api-Key': key.reader });
  assert.deepEqual(await namesOf(client), everyTool);
  const narrow = await connected(context, { Authorization: `Bearer ${key.narrow}` });
  assert.deepEqual(await namesOf(narrow), ['query_cities']);
  await assert.rejects(narrow.callTool({ name: 'deliver_by_url', arguments: { url: '/a' } }), /Unknown tool/);
});

test('MCP: tools answer like their endpoints', async (context) => {
  const client = await connected(context, { 'X-Api-Key': key.reader });
  const page = await call(client, 'deliver_by_url', { url: '/a' });
  assert.deepEqual(page.json, (await front.call('GET', '/v2?url=/a', { key: key.reader })).json);
  assert.equal(page.json.route.title, 'A');
  assert.equal((await call(client, 'deliver_by_url', { url: '/none' })).json.meta.status, 404);
  const id = viewIdOf('a');
  assert.deepEqual((await call(client, 'deliver_by_id', { id })).json.views[id], { title: 'A' });
  assert.deepEqual((await call(client, 'deliver_by_handle', { handle: 'none' })).json.views, {});
  const cut = await call(client, 'deliver_by_url', { url: '/a', depth: 0 });
  assert.deepEqual(cut.json, (await front.call('GET', '/v2?url=/a&depth=0', { key: key.reader })).json);
  assert.deepEqual(cut.json.meta.cutViewReferences, []);
  const routes = await front.call('GET', '/routes/v2', { key: key.reader });
  assert.deepEqual((await call(client, 'list_routes', {})).json, routes.json);
  assert.equal((await call(client, 'list_routes', { after: 'broken' })).isError, true);
});

test('MCP: a query tool accepts the query object, and describes its index', async (context) => {
  const client = await connected(context, { 'X-Api-Key': key.reader });
  const { tools } = await client.listTools();
  const { description, inputSchema } = tools.find(({ name }) => name === 'query_cities') ?? {};
  assert.match(
    description ?? '',
    /Cities of the world\nFields:\n- name: text, \{"description":"in its own language"\}$/,
  );
  assert.deepEqual(Object.keys(inputSchema?.properties ?? {}).slice(0, 2).length, 2);
  const body = { search: { field: 'name', value: 'Lyöm' } };
  const found = await call(client, 'query_cities', body);
  assert.deepEqual([found.isError, found.json.totalResults], [false, 0]);
  assert.deepEqual(asked.at(-1), { target: { kind: 'index', alias: 'cities' }, body });
  const bad = await call(client, 'query_cities', { search: { field: 'bad', value: 'x' } });
  assert.deepEqual([bad.isError, bad.json.errors], [true, ['search.field: there is no field bad']]);
});

test('MCP: a management key has tools that explain', async (context) => {
  const client = await connected(context, { 'X-Api-Key': key.manager });
  assert.deepEqual(await namesOf(client), ['explain_view', 'explain_url', 'preview', 'diagnostics']);
  const explained = await call(client, 'explain_url', { url: '/a' });
  assert.equal(explained.json.answer, 200);
  assert.equal((await call(client, 'explain_url', { url: '/a', client: 'nobody' })).isError, true);
  assert.equal((await call(client, 'explain_view', { id: 'no id' })).isError, true);
  assert.equal((await call(client, 'preview', {})).isError, true);
  const { json } = await call(client, 'diagnostics', {});
  assert.deepEqual(json, (await front.call('GET', '/management/v1/diagnostics', { key: key.manager })).json);
  assert.equal(json.diagnostics[0].kind, 'schemaUnused');
});

test('MCP: keys, sizes and methods are refused as everywhere', async () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const status = async (body: unknown, apiKey?: string) =>
    (await front.call('POST', '/mcp', { body, ...(apiKey === undefined ? {} : { key: apiKey }) })).status;
  assert.equal(await status(list), 401);
  assert.equal(await status(list, 'unknown'), 401);
  assert.equal(await status(list, key.source), 403);
  assert.equal(await status(`"${'x'.repeat(1024 * 1024)}"`, key.reader), 413);
  assert.equal(await status('{', key.reader), 400);
  const get = await front.call('GET', '/mcp', { key: key.reader });
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
});

test('MCP: its responses are as the OpenAPI document says', async () => {
  const { json: document } = await front.call('GET', '/openapi.json');
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  for (const [body, status] of [
    [ping, 200],
    [[ping, { ...ping, id: 2 }], 200],
    [{ ...ping, jsonrpc: '1.0' }, 400],
    ['{', 400],
  ] as const) {
    const answer = await front.call('POST', '/mcp', { key: key.reader, body });
    assert.equal(answer.status, status, answer.text);
    const { schema } = document.paths['/mcp'].post.responses[status].content['application/json'];
    assert.deepEqual(shapeErrors(document, schema, answer.json), [], answer.text);
  }
});

test('MCP: a body that is not JSON gets a parse error with line and column', async () => {
  const { status, json } = await front.call('POST', '/mcp', { key: key.reader, body: '{"jsonrpc": "2.0",}' });
  assert.deepEqual([status, json.error.code, json.id], [400, -32_700, null]);
  assert.match(json.error.message, /line 1, column 19: expected a name in double quotes/);
});

test('MCP: a client of an earlier revision is answered with JSON, without a session', async () => {
  const ask = (message: object) =>
    front.call('POST', '/mcp', { key: key.reader, body: { jsonrpc: '2.0', ...message } });
  const clientInfo = { name: 'old', version: '1' };
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
  const begun = await ask({ id: 1, method: 'initialize', params });
  assert.equal(begun.status, 200);
  assert.equal(begun.headers.get('mcp-session-id'), null);
  assert.equal(begun.json.result.serverInfo.name, 'millrace');
  assert.equal((await ask({ method: 'notifications/initialized' })).status, 202);
  const { json } = await ask({ id: 2, method: 'tools/list' });
  assert.deepEqual(
    json.result.tools.map(({ name }: { name: string }) => name),
    everyTool,
  );
});

test('MCP: the answers of a batch are computed one after the other, with bounded memory in total', async () => {
  const title = 'x'.repeat(12 * 1024 * 1024);
  await putView(front.store, 'large', title);
  const params = { name: 'deliver_by_id', arguments: { id: viewIdOf('large') } };
  const body = Array.from({ length: 5 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }));
  const { json } = await front.call('POST', '/mcp', { key: key.reader, body });
  const results = (json as { id: number; result: { isError?: true; content: { text: string }[] } }[])
    .toSorted((a, b) => a.id - b.id)
    .map(({ result }) => result);
  assert.deepEqual(
    results.map(({ isError = false }) => isError),
    [false, false, false, true, true],
  );
  assert.match(results[0]?.content[0]?.text ?? '', /"x{1000}/);
  assert.match(results[3]?.content[0]?.text ?? '', /Send the calls one by one/);
});

test('MCP: no subscription stays open', async () => {
  const meta = 'io.modelcontextprotocol/';
  const _meta = {
    [`${meta}protocolVersion`]: '2026-07-28',
    [`${meta}clientInfo`]: { name: 'test', version: '1' },
    [`${meta}clientCapabilities`]: {},
  };
  const params = { _meta, notifications: { toolsListChanged: true } };
  const body = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params };
  const { text } = await front.call('POST', '/mcp', {
    key: key.reader,
    body,
    headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' },
  });
  assert.match(text, /Subscription limit reached/);
});
