/**
 * Who may call what: every endpoint of the route table × every kind of key. The rules are repeated here from the docs instead
 * of the table, so that an endpoint without a rule, or with another one, fails.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Configuration, ManagementScope, Scope } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { Json } from '../../../src/contract/json.ts';
import { problemShape } from '../../../src/http/routing/openapi/openapi-document.ts';
import type { Route, RouteName } from '../../../src/http/routing/route-table.ts';
import { routeTable } from '../../../src/http/routing/route-table.ts';
import { validate } from '../../../src/http/routing/validate.ts';
import type { QueryService } from '../../../src/query/query-service.ts';
import { resultText } from '../../../src/query/result/result-text.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { readEntities } from '../../../src/store/entities/entities.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView } from '../support/seed.ts';
import { environmentId, sourceId } from '../support/site.ts';

type Rule = 'open' | 'ingest' | 'a client or manager' | Scope | `manage: ${ManagementScope}`;

/** As in docs/reference/http.md "Keys and access". */
const rules: Readonly<Record<string, Rule>> = {
  'post /ingest/v2': 'ingest',
  'delete /ingest/v2': 'ingest',
  'post /ingest/v2/{originId}': 'ingest',
  'post /ingest/v1': 'ingest',
  'delete /ingest/v1': 'ingest',
  'delete /ingest/v2/{originId}': 'ingest',
  'get /ingest/entities': 'ingest',
  'get /v2': 'delivery',
  'get /v1': 'delivery',
  'post /v2': 'delivery',
  'get /routes/v1': 'routes',
  'get /routes/v2': 'routes',
  'post /v1': 'query',
  'post /v1/{indexAlias}': 'query',
  'post /v1/sourceGroupAlias/{sourceGroupAlias}/type/{sourceEntityType}': 'source',
  'post /v1/source': 'source',
  'get /management/v1/status': 'manage: read',
  'get /management/v1/entities/{sourceGroup}/{originId}': 'manage: read',
  'get /management/v1/explain/view': 'manage: read',
  'get /management/v1/explain/url': 'manage: read',
  'get /changes/v1': 'changes',
  'get /management/v1/tenant': 'manage: read',
  'get /management/v1/diagnostics': 'manage: read',
  'get /management/v1/entities': 'manage: read',
  'get /management/v1/schedule': 'manage: read',
  'get /management/v1/configuration': 'manage: read',
  'put /management/v1/configuration': 'manage: configure',
  'get /management/v1/jobs/{id}': 'manage: read',
  'post /mcp': 'a client or manager',
  'post /management/v1/preview': 'manage: read',
  'post /management/v1/query': 'manage: read',
  'get /management/v1/changes': 'manage: read',
  'get /management/v1/webhooks': 'manage: read',
  'post /management/v1/webhooks/{alias}/test': 'manage: operate',
  'post /management/v1/webhooks/{alias}/replay': 'manage: operate',
  'post /management/v1/webhooks/{alias}/enable': 'manage: operate',
  'get /console': 'open',
  'get /console/{view}': 'open',
  'get /health/live': 'open',
  'get /health/ready': 'open',
  'get /metrics': 'open',
  'get /openapi.json': 'open',
};

const secret = 'only the first tenant may see this';
const managementScopes: readonly ManagementScope[] = ['read', 'configure', 'operate'];
const scopes: readonly Scope[] = ['delivery', 'routes', 'query', 'source', 'changes'];

interface Holder {
  readonly who: string;
  readonly key: string | undefined;
  readonly kind: 'nobody' | 'source' | 'client' | 'management';
  readonly scopes: readonly (Scope | ManagementScope)[];
  readonly tenant: 'one' | 'two' | null;
}

const subsetsOf = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: 2 ** all.length }, (_, bits) =>
    all.filter((_one, place) => (bits & (1 << place)) !== 0),
  );

const nobody = { kind: 'nobody', scopes: [], tenant: null } as const;
const holders: readonly Holder[] = [
  { who: 'no key', key: undefined, ...nobody },
  { who: 'an empty key', key: '', ...nobody },
  { who: 'an unknown key', key: 'no-such-key', ...nobody },
  { who: 'the beginning of a key', key: 'key-of-the-sourc', ...nobody },
  { who: 'a key in another case', key: 'KEY-OF-THE-SOURCE', ...nobody },
  { who: 'the name of an inherited property', key: '__proto__', ...nobody },
  { who: 'an endless key', key: 'x'.repeat(5000), ...nobody },
  { who: 'the source key', key: 'key-of-the-source', kind: 'source', scopes: [], tenant: 'one' },
  ...subsetsOf(scopes).map((some) => ({
    who: `a client key with ${some.join(', ') || 'no scope'}`,
    key: `key-of-client-${some.join('-')}`,
    kind: 'client' as const,
    scopes: some,
    tenant: 'one' as const,
  })),
  ...subsetsOf(managementScopes).map((some) => ({
    who: `a management key with ${some.join(', ') || 'no scope'}`,
    key: `key-of-manager-${some.join('-')}`,
    kind: 'management' as const,
    scopes: some,
    tenant: 'one' as const,
  })),
  {
    who: "another tenant's management key",
    key: 'key-of-manager-two',
    kind: 'management',
    scopes: managementScopes,
    tenant: 'two',
  },
  { who: "another tenant's source key", key: 'key-of-source-two', kind: 'source', scopes: [], tenant: 'two' },
  { who: "another tenant's client key", key: 'key-of-client-two', kind: 'client', scopes, tenant: 'two' },
];

/** The tenants use the same ids, aliases and hostnames. */
function tenantFile(tenant: 'one' | 'two'): string {
  const own = holders.filter((holder) => holder.tenant === tenant);
  const keysOf = (kind: Holder['kind']) => own.filter((holder) => holder.kind === kind);
  return JSON.stringify({
    environments: [{ id: environmentId, alias: 'production' }],
    sourceGroups: [
      {
        alias: 'cms',
        autoIndex: true,
        sources: [
          {
            id: sourceId,
            name: 'CMS',
            environments: ['production'],
            apiKeys: keysOf('source').map(({ key }) => key),
          },
        ],
      },
    ],
    domains: [{ alias: 'site', hostnames: ['*'] }],
    environmentClients: keysOf('client').map(({ who, key, scopes: granted }) => ({
      name: who,
      environment: 'production',
      domains: ['site'],
      scopes: granted,
      apiKeys: [key],
    })),
    managementClients: keysOf('management').map(({ who, key, scopes: granted }) => ({
      name: who,
      scopes: granted,
      apiKeys: [key],
    })),
  });
}

function configuration(): Configuration {
  const outcome = loadConfiguration(
    new Map((['one', 'two'] as const).map((name) => [`tenants/${name}/tenant.json`, tenantFile(name)])),
  );
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.issues));
  return outcome.configuration;
}

/** Says whose data was requested. */
const query: QueryService = {
  run: async ({ tenant }, requests) =>
    requests.map(() => {
      const row = {
        _originId: 'x',
        _sourceGuid: sourceId,
        _updatedAt: '1970-01-01T00:00:00.000Z',
        text: tenant.alias === 'one' ? secret : 'mine',
      };
      const rows = [Buffer.from(JSON.stringify(row))];
      const text = resultText(
        1,
        rows.map((row) => [row]),
        { facets: [], nextPageToken: null },
      );
      return {
        ok: true,
        result: { kind: 'text', text },
        subject: 'items',
        configuration: null,
      };
    }),
};

let front: TestFront;
before(async () => {
  front = await startFront({
    services: {
      configuration: { loaded: true, current: configuration(), layouts: LayoutStates.none },
      query,
    },
  });
  await putView(front.store, 'x', secret);
  await putClaim(front.store, 'x', { handle: 'x' });
  await putClaim(front.store, 'x', { url: `/${encodeURIComponent(secret)}` });
});
after(() => front.stop());

/** Requests that would reveal the first tenant's data to anyone with access; others use the example of the document. */
const asked: Partial<Record<RouteName, { readonly query?: string; readonly body?: Json }>> = {
  deliver: { query: '?handle=x' },
  deliverV1: { query: '?handle=x' },
  deliverKeys: { body: { handles: ['x'] } },
  listRoutesV1: { query: '?first=100' },
  querySources: { body: [{ sourceGroupAlias: 'cms', sourceEntityType: 'page', name: 'a' }] },
};

function ask(route: Route, key: string | undefined, body?: Json | string) {
  const { query: search = '' } = asked[route.name] ?? {};
  const at = `${route.path.replaceAll(/\{\w+\}/g, 'x')}${search}`;
  return front.call(route.method.toUpperCase(), at, {
    ...(key === undefined ? {} : { key }),
    ...(body === undefined ? {} : { body }),
  });
}

function refusal(rule: Rule, { kind, scopes: granted }: Holder): 401 | 403 | null {
  if (rule === 'open') return null;
  if (kind === 'nobody') return 401;
  if (rule === 'ingest') return kind === 'source' ? null : 403;
  if (rule === 'a client or manager') return kind === 'source' ? 403 : null;
  const managed = managementScopes.find((scope) => rule === `manage: ${scope}`);
  if (managed !== undefined) return kind === 'management' && granted.includes(managed) ? null : 403;
  return kind === 'client' && granted.some((scope) => scope === rule) ? null : 403;
}

/** The documented shape of an answer; undefined for an undocumented status. */
function documentedShape(route: Route, status: number) {
  const answer = route.answers[status];
  if (answer !== undefined) return answer.shape ?? null;
  return route.problemStatuses.includes(status) ? problemShape(route, status) : undefined;
}

function ruleOf(access: Route['access']): Rule {
  if (access.kind === 'client') return access.scope;
  if (access.kind === 'management') return `manage: ${access.scope}`;
  if (access.kind === 'reader') return 'a client or manager';
  return access.kind === 'source' ? 'ingest' : 'open';
}

test('access matrix: every endpoint has a rule here, equal to the one in its table', () => {
  for (const { method, path: at, access } of routeTable) {
    const rule = rules[`${method} ${at}`];
    assert.ok(rule !== undefined, `${method} ${at} has no access rule: add to this test who may call it`);
    const tabled = ruleOf(access);
    assert.equal(tabled, rule, `${method} ${at}`);
  }
  assert.equal(Object.keys(rules).length, routeTable.length, 'a rule without an endpoint');
});

for (const route of routeTable) {
  const rule = rules[`${route.method} ${route.path}`];
  test(`access matrix: ${route.method} ${route.path} admits keys with ${rule}, and answers as documented`, async () => {
    for (const holder of holders) {
      const good = asked[route.name]?.body ?? route.body?.example;
      for (const body of route.body === undefined ? [undefined] : ['{', good]) {
        const about = `${holder.who}, ${JSON.stringify(body)}`;
        const answer = await ask(route, holder.key, body);
        const expected = rule === undefined ? 401 : refusal(rule, holder);
        if (expected === null) assert.ok(![401, 403].includes(answer.status), about);
        else assert.equal(answer.status, expected, about);
        const shape = documentedShape(route, answer.status);
        assert.notEqual(shape, undefined, `${answer.status} is not documented: ${about}`);
        if (shape) assert.deepEqual(validate(shape, answer.json as Json, 5), [], `${answer.text}: ${about}`);
        if (holder.key) assert.ok(!answer.text.includes(holder.key), `the answer shows the key: ${about}`);
        const mayShow = holder.tenant === 'one' && expected === null;
        const isShown = answer.text.includes(secret) || answer.text.includes(encodeURIComponent(secret));
        if (isShown) assert.ok(mayShow, `the answer shows another tenant's data: ${about}`);
        if (
          mayShow &&
          body !== '{' &&
          rule !== 'ingest' &&
          rule !== 'open' &&
          rule !== 'changes' &&
          // The tools that it lists depend on scopes: test/http/mcp/mcp.test.ts.
          rule !== 'a client or manager' &&
          !rule?.startsWith('manage')
        ) {
          assert.ok(isShown, `the answer has nothing that could be protected: ${answer.text}`);
        }
      }
    }
  });
}

test("access matrix: another tenant's source key neither changes nor deletes an entity of the same id", async () => {
  const entity = { type: 'page', properties: { text: secret } };
  const path_ = '/ingest/v2/mine';
  const saved = await front.call('POST', path_, { key: 'key-of-the-source', body: entity });
  assert.equal(saved.status, 200);
  const key = 'key-of-source-two';
  assert.equal((await front.call('DELETE', path_, { key })).status, 404);
  assert.equal(
    (await front.call('POST', path_, { key, body: { type: 'other', properties: {} } })).status,
    200,
  );
  assert.equal((await front.call('DELETE', path_, { key })).status, 200);
  const [stored] = await readEntities(front.store, 'one', [{ sourceId, originId: 'mine' }]);
  assert.deepEqual([stored?.type, stored?.properties], ['page', { text: secret }]);
});

/*
 * How long a comparison takes cannot be distinguished from the noise of a shared machine, so a test of times would either fail
 * by chance or prove nothing. What is held instead is why it cannot matter: a key that comes in is known by its SHA-256
 * alone, hashes are compared by `timingSafeEqual`, and this happens at one place through which every request goes.
 */
test('access matrix: keys are read in one place and compared in one place, by their hashes, in constant time', () => {
  const src = fileURLToPath(new URL('../../../src', import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const having = (pattern: RegExp) =>
    files.filter((file) => pattern.test(readFileSync(path.join(src, file), 'utf8'))).sort();
  assert.deepEqual(having(/(?:of|header|getHeader)\('x-api-key'/i), ['http/routing/admission.ts']);
  assert.deepEqual(having(/\.authenticate\(/), ['config/documents/load.ts', 'http/routing/access.ts']);
  const ring = readFileSync(path.join(src, 'config/tenant/api-keys.ts'), 'utf8');
  const [, authenticate = ''] = ring.split('authenticate(apiKey: string)');
  assert.match(authenticate, /timingSafeEqual\(holder\.hash, hash\)/);
  assert.doesNotMatch(
    authenticate,
    /apiKey\s*[!=]==?|[!=]==?\s*apiKey|apiKey\.(startsWith|includes|localeCompare)/,
  );
  // A key is remembered only after the comparison, so the cache of valid keys says nothing about a wrong one.
  assert.ok(authenticate.indexOf('#proven.set') > authenticate.indexOf('timingSafeEqual'));
});
