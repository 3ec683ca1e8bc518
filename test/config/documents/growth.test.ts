/** The time to load a configuration is linear in its size, whatever is large in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashKeys } from '../../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => `${prefix}${nameAt(at)}`);

/** Similar names: each has many near matches. */
function nameAt(at: number): string {
  return at
    .toString(26)
    .padStart(6, '0')
    .replace(/[0-9]/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '');
}

function membersOf<T>(keys: readonly string[], of: (name: string, at: number) => T): Record<string, T> {
  return Object.fromEntries(keys.map((name, at) => [name, of(name, at)]));
}

interface Parts {
  readonly tenantFile?: JsonObject;
  readonly schemas?: Record<string, Json>;
  readonly partials?: Record<string, Json>;
  readonly indexes?: Record<string, Json>;
}

const source = { id: 's', name: 'S', environments: ['e'] };
const base = {
  environments: [{ id: 'e', alias: 'e' }],
  sourceGroups: [{ alias: 'cms', sources: [source] }],
  domains: [{ alias: 'site', hostnames: ['*'] }],
};

function documents({ tenantFile = {}, ...folders }: Parts): Map<string, string> {
  const files = new Map([['tenants/t/tenant.json', JSON.stringify({ ...base, ...tenantFile })]]);
  for (const [folder, members] of Object.entries(folders)) {
    for (const [alias, json] of Object.entries(members)) {
      files.set(`tenants/t/${folder}/${alias}.json`, JSON.stringify(json));
    }
  }
  return files;
}

const page = { triggers: { cms: ['page'] }, properties: { title: '{p.title}' } };
const lookup = {
  operator: 'equals',
  sourceEntityType: 'a',
  sourceEntityProperty: 'b',
  matchValue: '{originId}',
};

/** What is large -> a configuration of that size. */
const dimensions: Readonly<Record<string, (count: number) => Parts>> = {
  'entity types of one schema': (n) => ({ schemas: { page: { ...page, triggers: { cms: names(n, 't') } } } }),
  'entity types of any source group': (n) => ({
    schemas: { page: { sourceEntityTypes: names(n, 't'), properties: {} } },
    tenantFile: { sourceGroups: names(n / 10, 'g').map((alias) => ({ alias, sources: [] })) },
  }),
  'schemas for any source group': (n) => ({
    schemas: membersOf(names(n / 10, 's'), (name) => ({ sourceEntityTypes: [name], properties: {} })),
    tenantFile: { sourceGroups: names(n / 10, 'g').map((alias) => ({ alias, sources: [] })) },
  }),
  'source groups with types': (n) => ({
    schemas: {
      page: { triggers: membersOf(names(n, 'g'), () => ['page']), sourceEntityTypes: ['a'], properties: {} },
    },
    tenantFile: { sourceGroups: names(n, 'g').map((alias) => ({ alias, sources: [] })) },
  }),
  'unknown source groups': (n) => ({
    schemas: { page: { ...page, triggers: membersOf(names(n, 'x'), () => ['page']) } },
    tenantFile: { sourceGroups: names(n, 'g').map((alias) => ({ alias, sources: [] })) },
  }),
  'unknown aliases of references': (n) => ({
    schemas: {
      ...membersOf(names(n / 10, 's'), () => page),
      page: {
        ...page,
        properties: membersOf(names(n, 'p'), (alias) => ({ type: 'reference', alias, originId: 'x' })),
      },
    },
  }),
  'unknown partials': (n) => ({
    partials: membersOf(names(n / 10, 's'), () => ({ properties: {} })),
    schemas: {
      page: {
        ...page,
        properties: membersOf(names(n, 'p'), (alias) => ({ type: 'partial', alias, input: '{p.x}' })),
      },
    },
  }),
  destinations: (n) => ({
    schemas: { page: { ...page, destinations: names(n, 'd').map((alias) => ({ alias })) } },
  }),
  'destinations given twice': (n) => ({
    schemas: { page: { ...page, destinations: names(n, 'd').map(() => ({ alias: 'same' })) } },
  }),
  environments: (n) => ({
    tenantFile: {
      environments: names(n, 'e').map((alias) => ({ id: alias, alias })),
      sourceGroups: [{ alias: 'cms', sources: names(n, 'e').map((id) => ({ id, environments: [id] })) }],
      environmentClients: names(n, 'e').map((environment) => ({ environment })),
    },
  }),
  'unknown environments': (n) => ({
    tenantFile: {
      environments: names(n, 'e').map((alias) => ({ id: alias, alias })),
      environmentClients: names(n, 'f').map((environment) => ({ environment })),
    },
  }),
  domains: (n) => ({
    tenantFile: {
      domains: names(n, 'd').map((alias) => ({ alias, hostnames: [`${alias}.example.com`] })),
      environmentClients: names(n, 'c').map((name) => ({ name, environment: 'e' })),
    },
  }),
  'hostnames of one domain': (n) => ({
    tenantFile: {
      domains: [{ alias: 'site', hostnames: names(n, 'd').map((name) => `${name}.example.com`) }],
      environmentClients: names(n, 'c').map((name) => ({ name, environment: 'e', domains: ['site'] })),
    },
  }),
  'API keys': (n) => ({
    tenantFile: { environmentClients: [{ environment: 'e', apiKeys: names(n, 'key') }] },
  }),
  clients: (n) => ({
    tenantFile: { environmentClients: names(n, 'c').map((name) => ({ environment: 'e', apiKeys: [name] })) },
  }),
  'index fields': (n) => ({
    indexes: {
      page: {
        triggers: { cms: ['page'] },
        index: { fields: membersOf(names(n, 'f'), () => ({ type: 'keyword' })) },
        properties: membersOf(names(n, 'f'), () => '{p.x}'),
      },
    },
  }),
  'index fields without properties': (n) => ({
    indexes: {
      page: {
        triggers: { cms: ['page'] },
        index: { fields: membersOf(names(n, 'f'), () => ({ type: 'keyword' })) },
        properties: membersOf(names(n, 'g'), () => '{p.x}'),
      },
    },
  }),
  schemas: (n) => ({ schemas: membersOf(names(n, 's'), () => page) }),
  'schemas of one type each': (n) => ({
    schemas: membersOf(names(n, 's'), (name) => ({ ...page, triggers: { cms: [name] } })),
  }),
  'partials in a chain': (n) => ({
    partials: membersOf(names(n / 4, 's'), (_, at) => ({
      properties: {
        a: 'x'.repeat(500),
        next: { type: 'partial', alias: `s${nameAt(at + 1)}`, input: '{input}' },
      },
    })),
  }),
  'schemas that use one long partial': (n) => ({
    partials: { long: { properties: membersOf(names(n, 'p'), () => 'some text') } },
    schemas: membersOf(names(n / 10, 's'), () => ({
      ...page,
      properties: { a: { type: 'partial', alias: 'long', input: '{p.x}' } },
    })),
  }),
  properties: (n) => ({
    schemas: { page: { ...page, properties: membersOf(names(n, 'p'), () => '{p.title}') } },
  }),
  'properties below a long name': (n) => ({
    indexes: {
      page: {
        triggers: { cms: ['page'] },
        index: { fields: { ['x'.repeat(n * 10)]: { type: 'object' } } },
        properties: {
          ['x'.repeat(n * 10)]: { type: 'object', properties: membersOf(names(n, 'p'), () => '{p.title}') },
        },
      },
    },
  }),
  'holes of one text': (n) => ({ schemas: { page: { ...page, properties: { a: '{p.a}'.repeat(n) } } } }),
  'steps of one path': (n) => ({ schemas: { page: { ...page, properties: { a: `{p${'.a'.repeat(n)}}` } } } }),
  'alternatives of one hole': (n) => ({
    schemas: { page: { ...page, properties: { a: `{p.a${' ?? p.b'.repeat(n)}}` } } },
  }),
  'values of one filter': (n) => ({
    schemas: {
      page: {
        ...page,
        properties: {
          a: {
            type: 'array',
            input: {
              $lookup: {
                filter: `p.a in (${names(n, 'v')
                  .map((v) => `'${v}'`)
                  .join(', ')})`,
              },
            },
          },
        },
      },
    },
  }),
  'conditions of one filter': (n) => ({
    schemas: {
      page: {
        ...page,
        properties: {
          a: {
            type: 'array',
            input: {
              $lookup: {
                filter: names(n, 'v')
                  .map((v) => `p.${v} eq 1`)
                  .join(' and '),
              },
            },
          },
        },
      },
    },
  }),
  'groups of alternatives in one filter': (n) => ({
    schemas: {
      page: {
        ...page,
        properties: {
          a: {
            type: 'array',
            input: {
              $lookup: {
                filter: names(n, 'v')
                  .map((v) => `(p.${v} eq 1 or p.${v} eq 2)`)
                  .join(' and '),
              },
            },
          },
        },
      },
    },
  }),
  lookups: (n) => ({
    schemas: {
      page: {
        ...page,
        properties: membersOf(names(n, 'p'), (name) => ({
          type: 'array',
          input: { $lookup: { ...lookup, sourceEntityProperty: name } },
        })),
      },
    },
  }),
  'lookups of many source groups': (n) => ({
    schemas: {
      page: {
        sourceEntityTypes: ['page'],
        properties: membersOf(names(n, 'p'), (name) => ({
          type: 'array',
          input: { $lookup: { ...lookup, sourceEntityProperty: name } },
        })),
      },
    },
    tenantFile: { sourceGroups: names(n / 10, 'g').map((alias) => ({ alias, sources: [] })) },
  }),
  actions: (n) => ({
    schemas: {
      page: { ...page, actions: names(n, 'a').map((alias) => ({ type: 'process', alias, source: alias })) },
    },
  }),
  handles: (n) => ({ schemas: { page: { ...page, route: { handles: names(n, 'h') } } } }),
  'unknown schemas of a webhook': (n) => ({
    tenantFile: {
      webhooks: [
        {
          alias: 'w',
          environment: 'e',
          url: 'https://example.com',
          secret: 'whsec_c2VjcmV0',
          schemas: names(n, 's'),
        },
      ],
    },
    schemas: membersOf(names(n / 10, 't'), () => page),
  }),
  'unknown keys': (n) => ({ schemas: { page: { ...page, ...membersOf(names(n, 'k'), () => 1) } } }),
  'unknown scopes': (n) => ({
    tenantFile: { environmentClients: [{ environment: 'e', scopes: names(n, 's') }] },
  }),
  'origins of a client': (n) => ({
    tenantFile: {
      environmentClients: [{ environment: 'e', origins: names(n, 'o').map((o) => `https://${o}.example`) }],
    },
  }),
  'indexes of a client': (n) => ({
    tenantFile: { environmentClients: [{ environment: 'e', indexes: names(n, 'i') }] },
  }),
};

function cpuMs(work: () => unknown): number {
  const from = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

/** The minimum of several runs, because other load on the machine only adds time. */
function leastCpuMs(work: () => unknown): number {
  return Math.min(cpuMs(work), cpuMs(work));
}

const smallCount = Number(process.env.GROWTH ?? 1000);
const growth = 4;
/** Linear is 4, quadratic 16. Small loads are dominated by noise. */
const ratioMax = 9;
const noiseMs = 8;

for (const [what, partsOf] of Object.entries(dimensions)) {
  test(`load: the time is linear in the number of ${what}`, () => {
    const load = (count: number) => {
      const files = documents(partsOf(count));
      return leastCpuMs(() => loadConfiguration(files));
    };
    load(smallCount / 10);
    let took = '';
    const isLinear = () => {
      const [small, large] = [load(smallCount), load(smallCount * growth)];
      took = `${smallCount} took ${small} ms, ${growth} times as many ${large} ms`;
      if (process.env.SHOW) console.log(what, took);
      return large / (small + noiseMs / growth) < ratioMax;
    };
    // A collection of garbage may double one of the times.
    assert.ok(isLinear() || isLinear() || isLinear(), took);
  });
}

test('load: a tenant with unchanged documents is reused from the previous configuration', () => {
  const two = (title: string) =>
    hashKeys(
      new Map([
        ['tenants/a/tenant.json', JSON.stringify(base)],
        ['tenants/a/schemas/page.json', JSON.stringify(page)],
        ['tenants/b/tenant.json', JSON.stringify(base)],
        ['tenants/b/schemas/page.json', JSON.stringify({ ...page, properties: { title } })],
      ]),
    );
  const former = loadConfiguration(two('one'));
  assert.ok(former.ok);
  const changed = loadConfiguration(two('two'), 'stored', null, [former.configuration]);
  const anew = loadConfiguration(two('two'));
  assert.ok(changed.ok && anew.ok);
  const tenantsOf = ({ tenants }: typeof former.configuration) => [tenants.get('a'), tenants.get('b')];
  const [a, b] = tenantsOf(former.configuration);
  const [nextA, nextB] = tenantsOf(changed.configuration);
  assert.equal(nextA, a);
  assert.notEqual(nextB, b);
  assert.equal(changed.configuration.digest, anew.configuration.digest);
});

test('load: a value beyond a limit is an error that names the limit, and stored configurations stay valid', () => {
  const files = documents({ schemas: { page: { ...page, triggers: { cms: names(30_000, 't') } } } });
  const loaded = loadConfiguration(files);
  assert.ok(!loaded.ok);
  assert.deepEqual(
    loaded.issues.map(({ message }) => message),
    ['has 30000 entity types that trigger schemas; at most 20000 are allowed'],
  );
  assert.equal(loadConfiguration(files, 'stored').ok, true);
});
