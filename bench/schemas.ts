/** `npm run bench -- schemas`: the same mapping in JSON and in JavaScript. */
import { readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { JsonObject } from '../src/contract/json.ts';
import type { BenchContext } from './support/bench.ts';
import type { Entity } from './support/data/sets.ts';
import { type BenchTenant, sourceGroup } from './support/data/tenant.ts';
import { Client } from './support/load/client.ts';
import { megabytes, memoryOf } from './support/platform/memory.ts';
import { System } from './support/platform/system.ts';
import { ratiosOf, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const mapping: JsonObject = {
  name: '{p.name}',
  slug: '{p.slug}',
  url: '{url}',
  id: '{id}',
  text: 'About {p.name} ({p.slug})',
  population: { type: 'number', value: '{p.population}' },
  isLarge: { type: 'boolean', value: '{p.isLarge}' },
  tags: {
    type: 'array',
    input: '{p.tags}',
    items: { type: 'object', properties: { name: '{item}' } },
  },
  parent: { type: 'reference', alias: 'page', originId: '{originParentId}' },
  place: { type: 'object', properties: { lat: { type: 'number', value: '{p.lat}', precision: 3 } } },
};
const mappingCode = `name: p.name, slug: p.slug, url: entity.url, id: entity.id, text: \`About \${p.name} (\${p.slug})\`,
      population: p.population, isLarge: p.isLarge, tags: p.tags.map((name) => ({ name })),
      parent: context.reference('page').parent(), place: { lat: Math.round(p.lat * 1000) / 1000 },`;

const lookupOf = (property: string): JsonObject => ({
  type: 'array',
  input: {
    $lookup: {
      filter: `type eq 'page' and properties.${property} eq {p.${property}}`,
      orderBy: { property: 'properties.name', sort: 'asc' },
      top: 5,
    },
  },
  items: '{item.p.name}',
});
const lookupCode = (property: string) =>
  `(await context.lookup(\`type eq 'page' and properties.${property} eq '\${encodeURIComponent(p.${property})}'\`)
        .orderBy({ propertyName: 'properties.name', direction: 'asc' }).limit(5)).map((one) => one.properties.name)`;

const triggers = { [sourceGroup]: ['page'] };

function jsonTenant(alias: string, more: JsonObject): BenchTenant {
  const page = { triggers, route: { url: '{url}' }, properties: { ...mapping, ...more } };
  return { alias, schemas: { page } };
}

function codeTenant(alias: string, more: string, extra = 0): BenchTenant {
  const text = (types: string) => `export default {
  triggers: (context) => context.triggers('${sourceGroup}', ['${types}']),
  routes: (entity, context) => { context.url(entity.url); },
  async properties(entity, context) {
    const p = entity.properties;
    return { ${mappingCode} ${more} };
  },
};`;
  const others = Array.from({ length: extra }, (_, number) => [`other${number}`, text(`other${number}`)]);
  return { alias, schemas: {}, code: { page: text('page'), ...Object.fromEntries(others) } };
}

const twoLookups = {
  json: { ofGroup: lookupOf('group'), ofKind: lookupOf('kind') },
  code: `ofGroup: ${lookupCode('group')}, ofKind: ${lookupCode('kind')},`,
};

function pages(count: number): Entity[] {
  return Array.from({ length: count }, (_, number) => ({
    originId: `page-${number}`,
    type: 'page',
    url: `/pages/${number}`,
    originParentId: number === 0 ? null : `page-${Math.floor(number / 10)}`,
    redirects: [],
    properties: {
      name: `Page number ${number}`,
      slug: `page-number-${number}`,
      population: number * 7,
      isLarge: number % 3 === 0,
      tags: ['one', 'two', `t${number % 50}`],
      lat: (number % 180) + 0.12345,
      group: `g${Math.floor(number / 8)}`,
      kind: `k${number % Math.ceil(count / 8)}`,
      body: 'Some text that the page has and that no schema reads. '.repeat(5),
    },
  }));
}

function linesOf(entities: readonly Entity[]): Buffer {
  return Buffer.from(entities.map((entity) => `${JSON.stringify(entity)}\n`).join(''));
}

/** Entities per second, until each has its route. */
async function rateOf(
  context: BenchContext,
  tenant: BenchTenant,
  entities: readonly Entity[],
): Promise<number> {
  const system = await System.start(context, { tenants: [tenant] });
  const client = new Client(context, system.baseUrl, tenant);
  const load = async (some: readonly Entity[]) => {
    await client.import(Readable.from([linesOf(some)]));
  };
  const warmUp = Math.ceil(entities.length / 10);
  await load(entities.slice(0, warmUp));
  await client.waitForRoutes(warmUp);
  const startedMs = performance.now();
  await load(entities.slice(warmUp));
  await client.waitForRoutes(entities.length);
  const seconds = (performance.now() - startedMs) / 1000;
  await system.stop();
  return (entities.length - warmUp) / seconds;
}

/** Resident bytes of the worker and of the processes that it started. */
function workerBytes(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return [pid, ...children.map(Number)].reduce((sum, one) => sum + (memoryOf(one)?.residentBytes ?? 0), 0);
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return Number.NaN;
  }
}

async function memoryWith(context: BenchContext, tenant: BenchTenant): Promise<number> {
  const system = await System.start(context, { tenants: [tenant] });
  const client = new Client(context, system.baseUrl, tenant);
  const some = pages(200);
  await client.import(Readable.from([linesOf(some)]));
  await client.waitForRoutes(some.length);
  const bytes = workerBytes(system.workerPid);
  await system.stop();
  return bytes;
}

const contenders = [
  { name: 'JSON', tenant: jsonTenant('json', {}) },
  { name: 'JavaScript', tenant: codeTenant('code', '') },
  { name: 'JSON, two lookups', tenant: jsonTenant('json', twoLookups.json) },
  { name: 'JavaScript, two lookups', tenant: codeTenant('code', twoLookups.code) },
] as const;

await runBench({
  name: 'schemas',
  question:
    'What does a schema in JavaScript cost? The same mapping of ten members in JSON and in JavaScript, without lookups and with two: entities are saved over HTTP until each has its view and route.',
  caveats: [
    'Millrace is compared with itself.',
    'For JavaScript: its process has its own core besides the worker, if the machine has enough.',
  ],
  async run(context) {
    const entities = pages(context.quick ? 2_000 : 20_000);
    const measured = await inRounds<number>(
      context,
      contenders.map(({ name, tenant }) => ({ name, measure: () => rateOf(context, tenant, entities) })),
    );
    const rates = (name: string) => measured.get(name) ?? [];
    const memory = [
      ['one schema in JSON', await memoryWith(context, jsonTenant('json', {}))],
      ['one schema in JavaScript', await memoryWith(context, codeTenant('code', ''))],
      ['100 schemas in JavaScript', await memoryWith(context, codeTenant('code', '', 99))],
    ] as const;
    const ratioOf = (suffix: string) =>
      spreadOf(ratiosOf(rates(`JavaScript${suffix}`), rates(`JSON${suffix}`)));
    return {
      tables: [
        {
          title: `${entities.length.toLocaleString('en-US')} entities`,
          columns: ['', 'entities/s (quartiles)'],
          rows: contenders.map(({ name }) => [name, spreadFigure(spreadOf(rates(name)))]),
        },
        {
          title: 'Memory of a worker with the process that runs its code',
          columns: ['', 'resident'],
          rows: memory.map(([name, bytes]) => [name, megabytes(bytes)]),
        },
      ],
      charts: [],
      targets: ['', ', two lookups'].map((suffix) => {
        const ratio = ratioOf(suffix);
        return {
          text: `JavaScript over JSON${suffix} (≥ 0.5)`,
          figure: spreadFigure(ratio),
          isReached: ratio.median >= 0.5,
        };
      }),
    };
  },
});
