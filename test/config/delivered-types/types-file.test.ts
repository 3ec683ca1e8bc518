/** The output of `millrace types` compiles under `tsc --strict` together with the client, and types exactly what views have. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newSite } from '../../../src/cli/site/new-site.ts';
import { typesFile } from '../../../src/config/delivered-types/types-file.ts';
import { readConfiguration } from '../../../src/config/documents/read-documents.ts';
import { compilerSays } from '../../support/type-check.ts';
import { folderWith } from '../support/folder.ts';
import { siteTenant } from '../support/site.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

async function typesOf(context: test.TestContext, files: Readonly<Record<string, unknown>>): Promise<string> {
  const texts = Object.entries({ 'tenant.json': siteTenant(), ...files }).map(([file, content]) => [
    `tenants/site/${file}`,
    typeof content === 'string' ? content : JSON.stringify(content),
  ]);
  const read = await readConfiguration(await folderWith(context, Object.fromEntries(texts)));
  assert.ok(read.ok, JSON.stringify(read));
  return typesFile(read.documents, 'site');
}

/** The type of a member of an interface, on one line. */
function said(types: string, name: string): string {
  const lines = types.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`  readonly ${name}: `));
  const end = lines.findIndex((line, index) => index >= at && /^ {2}\S.*;$|^ {2}\}/.test(line));
  const text = lines.slice(at, end + 1).map((line) => line.trim());
  return text.join(' ').replace(`readonly ${name}: `, '');
}

const triggers = { cms: ['page'] };
const triggered = "triggers(context) { context.triggers('cms', ['page']); },";

test('types file: each property type of a JSON schema has its type, with null where it is possible', async (context) => {
  const types = await typesOf(context, {
    'schemas/page.json': {
      triggers,
      route: { handles: ['home', 'page-{originId}', '{{x}}-{p.handle}'] },
      properties: {
        hole: '{p.title}',
        own: '{originId}',
        sure: "{p.title ?? 'none'}",
        put: 'Title: {p.title}',
        constant: 5,
        empty: null,
        filled: { type: 'string', value: '{p.title}', default: 'none' },
        other: { type: 'string', value: '{p.title}', default: '{p.name}' },
        size: { type: 'number', value: '{p.size}' },
        count: { type: 'number', value: '{p.size}', default: 0 },
        isNew: { type: 'boolean', value: '{p.new}', default: 'false' },
        tags: { type: 'array', input: '{p.tags}' },
        'two words': {
          type: 'array',
          input: '{p.tags}',
          items: { type: 'object', properties: { tag: '{item}' } },
        },
        path: { '*': 'p.content' },
        whole: { type: 'object', properties: { '*': 'p.content' } },
        some: { type: 'object', properties: { own: 'text', '*': 'p.content' } },
        next: { type: 'reference', alias: 'page', originId: '{p.next}' },
        any: { type: 'reference', view: '{p.alias}', originId: '{p.next}' },
        gone: { type: 'reference', alias: 'no-such', originId: '{p.next}' },
        card: { type: 'partial', alias: 'card', input: '{p}' },
        tree: { type: 'partial', alias: 'tree', input: '{p}' },
      },
    },
    'partials/card.json': { properties: { id: '{id}' } },
    'partials/tree.json': { properties: { below: { type: 'partial', alias: 'tree', input: '{below}' } } },
  });
  const expected = [
    ['hole', 'string | null'],
    ['own', 'string'],
    ['sure', 'string'],
    ['put', 'string'],
    ['constant', 'number'],
    ['empty', 'null'],
    ['filled', 'string'],
    ['other', 'string | null'],
    ['size', 'number | null'],
    ['count', 'number'],
    ['isNew', 'boolean'],
    ['tags', 'readonly Json[]'],
    ['"two words"', 'readonly { readonly tag: string | null; }[]'],
    ['path', 'Json'],
    ['whole', 'Json'],
    ['some', '{ readonly own: string; readonly [name: string]: Json; }'],
    ['next', 'Views["page"] | null'],
    ['any', 'Views[keyof Views] | null'],
    ['gone', 'null'],
    ['card', 'Partials["card"]'],
    ['tree', 'Partials["tree"] | null'],
  ].map(([name, type]) => `readonly ${name}: ${type};`);
  assert.equal(said(types, 'page'), `{ ${expected.join(' ')} };`);
  // The input of a partial may lack an id.
  assert.equal(said(types, 'card'), '{ readonly id: string | null; };');
  assert.match(types, /export type Handle = "home" \| `page-\$\{string\}` \| `\{x\}-\$\{string\}`;/);
});

test('types file: types are inferred from code where they are explicit, and any JSON elsewhere', async (context) => {
  const types = await typesOf(context, {
    'lib/words.ts': 'export const words = (text: string) => ({ count: text.split(" ").length });',
    'schemas/page.full.ts': `
      import { words } from '../lib/words.ts';
      export default {
        ${triggered}
        routes({ originId }, context) { context.handle('page-' + originId); context.handle(null); },
        async properties({ properties: p }, context) {
          const found = await context.lookup("type eq 'page'").toPromise();
          const built: any = { a: 1 };
          built.b = 2;
          return {
            title: p.title,
            text: String(p.text),
            long: p.text.length > 10,
            words: words(p.text),
            links: found.map((one) => ({ url: one.url, name: \`\${one.properties.name}\` })),
            built,
            maybe: p.a ? 'a' : undefined,
            either: p.a ? 'a' : null,
            sum: p.a - 1,
            next: context.reference('page').byOriginId(p.next),
            related: context.reference('page').byOriginIds(p.related),
            first: context.reference('page').children().first(),
            card: context.partial('card', p),
            later: Promise.resolve([1, null]),
          };
        },
      };`,
    'schemas/spread.full.js': `export default { ${triggered} properties: ({ properties }) => ({ ...properties, own: true }) };`,
    'schemas/unseen.full.js': `const make = (own) => own; export default { ${triggered} properties: ({ properties }) => make(properties) };`,
    'schemas/silent.full.js': `export default { ${triggered} actions() {} };`,
    'schemas/card.partial.js': 'export default { properties: (input) => ({ name: String(input.name) }) };',
    'schemas/pages.index.js': `export default { ${triggered} index: { fields: { at: { type: 'date' }, near: { type: 'geoPoint[]' } } }, properties: () => ({}) };`,
  });
  const expected = [
    'title: Json',
    'text: string',
    'long: boolean',
    'words: { readonly count: number; }',
    'links: readonly { readonly url: Json; readonly name: string; }[]',
    'built: { readonly [name: string]: Json; }',
    'maybe?: string',
    'either: string | null',
    'sum: number | null',
    'next: Views["page"] | null',
    'related: readonly (Views["page"] | null)[]',
    'first: Views["page"] | null',
    'card: Partials["card"]',
    'later: readonly (number | null)[]',
  ].map((member) => `readonly ${member};`);
  assert.equal(said(types, 'page'), `{ ${expected.join(' ')} };`);
  assert.equal(said(types, 'spread'), '{ readonly own: boolean; readonly [name: string]: Json; };');
  assert.equal(said(types, 'unseen'), '{ readonly [name: string]: Json; };');
  assert.doesNotMatch(types, /silent/);
  assert.equal(said(types, 'pages'), '{ readonly at?: number | string; readonly near?: readonly Place[]; };');
  assert.match(types, /export type Handle = `page-\$\{string\}`;/);
});

/** A schema whose view has a single property. */
const eachOf = (properties: readonly string[]) =>
  `properties({ properties: p }) { return { ${properties.map((name) => `${name}: p.${name}`).join(', ')} }; },`;

test('types file: properties have the types that FullSchema declares, and any JSON where it declares none', async (context) => {
  const types = await typesOf(context, {
    'lib/types.ts': `
      export interface Tag { name: string; parent?: Tag }
      export type Paged<T, U = number> = { items: readonly T[]; count: U };`,
    'schemas/page.full.ts': `
      import type { FullSchema } from 'millrace/schema';
      import type { Paged, Tag } from '../lib/types.ts';
      interface Base { title: string; teaser?: string }
      interface Page extends Base {
        size: number | null;
        'two words': boolean;
        state: 'draft' | 'live';
        tags: Tag[];
        pages: Paged<string>;
        point: [number, number];
        author?: { name: string; born?: number | null };
        either: Readonly<Tag> | null;
        index: Record<string, number>;
        when: Date;
        brand: string & {};
        named: Base['title'];
      }
      export default {
        ${triggered}
        routes({ properties }, context) { context.handle(properties.title); },
        properties(entity, context) {
          const { properties } = entity;
          const { teaser = 'none', author } = properties;
          return {
            originId: entity.originId,
            url: entity.url,
            title: properties.title,
            words: properties['two words'],
            teaser,
            short: properties.teaser?.slice(0, 9),
            sized: properties.size ?? 0,
            size: properties.size,
            state: properties.state,
            tags: properties.tags,
            names: properties.tags.map((tag) => tag.name),
            pages: properties.pages,
            point: properties.point,
            name: author?.name,
            born: properties.author?.born ?? null,
            either: properties.either,
            index: properties.index,
            when: properties.when,
            brand: properties.brand,
            named: properties.named,
            unknown: properties.tag,
            inner: [properties].map((properties) => properties.titel),
          };
        },
      } satisfies FullSchema<Page>;`,
    'schemas/spread.full.ts': `
      import type { FullSchema as Schema } from 'millrace/schema';
      const schema: Schema<{ a: string; b?: number }> = {
        ${triggered}
        properties: ({ properties }) => ({ b: 'none', ...properties, ...(properties.b && { c: true }) }),
      };
      export default schema;`,
    'schemas/helped.full.ts': `
      import type { FullSchema } from 'millrace/schema';
      type OfPage = FullSchema<{ a: string }>;
      function schemaOf<T>(schema: FullSchema<T>): FullSchema<T> { return schema; }
      export default schemaOf<{ a: number }>({ ${triggered} ${eachOf(['a'])} });`,
    'schemas/alias.full.ts': `
      import type { FullSchema } from 'millrace/schema';
      type OfPage = FullSchema<{ a: string }>;
      export default { ${triggered} ${eachOf(['a', 'b'])} } as OfPage;`,
    'schemas/entity.full.ts': `
      import type { SourceEntity } from 'millrace/schema';
      export default { ${triggered} properties({ properties }: SourceEntity<{ a: string }>) { return { a: properties.a }; } };`,
    'schemas/other.full.ts': `
      interface FullSchema<T> { triggers: unknown; properties: unknown }
      export default { ${triggered} ${eachOf(['a'])} } satisfies FullSchema<{ a: string }>;`,
    'schemas/given.full.ts': `
      import type { FullSchema } from 'millrace/schema';
      export default {
        ${triggered}
        properties(entity) {
          let { properties } = entity;
          properties = { a: 5 } as never;
          return { a: properties.a };
        },
      } satisfies FullSchema<{ a: string }>;`,
    'schemas/card.partial.ts': `
      import type { PartialSchema } from 'millrace/schema';
      export default { properties: (input) => ({ name: input.name }) } satisfies PartialSchema<{ name: string }>;`,
  });
  const tag = '{ readonly name: string; readonly parent?: Json; }';
  const expected = [
    ...['originId: string', 'url: string | null', 'title: string', 'words: boolean', 'teaser: string'],
    ...['short?: string', 'sized: number', 'size: number | null', 'state: "draft" | "live"'],
    ...[`tags: readonly ${tag}[]`, 'names: readonly string[]'],
    ...['pages: { readonly items: readonly string[]; readonly count: number; }', 'point: readonly number[]'],
    ...['name?: string', 'born: number | null', `either: ${tag} | null`],
    ...['index: { readonly [name: string]: Json; }', 'when: Json', 'brand: Json', 'named: string'],
    ...['unknown: Json', 'inner: readonly Json[]'],
  ].map((member) => `readonly ${member};`);
  assert.equal(said(types, 'page'), `{ ${expected.join(' ')} };`);
  assert.equal(
    said(types, 'spread'),
    '{ readonly b?: string | number; readonly a: string; readonly c?: boolean; };',
  );
  assert.equal(said(types, 'helped'), '{ readonly a: number; };');
  assert.equal(said(types, 'alias'), '{ readonly a: string; readonly b: Json; };');
  assert.equal(said(types, 'entity'), '{ readonly a: string; };');
  assert.equal(said(types, 'other'), '{ readonly a: Json; };');
  assert.equal(said(types, 'given'), '{ readonly a: Json; };');
  assert.equal(said(types, 'card'), '{ readonly name: string; };');
});

test('types file: values that can be missing, changed later or built by recursion are never promised', async (context) => {
  const types = await typesOf(context, {
    'schemas/page.full.ts': `
      import type { FullSchema } from 'millrace/schema';
      interface Item { name: string; ok?: boolean; children?: Item[] }
      interface Page { items: Item[]; tags: string[]; sub?: string; key: string; raw?: { a: number } }
      function label(item: Item) { if (item.ok) return 'A'; }
      function kind(item: Item) { switch (item.name) { case 'x': return 1; default: return 2; } }
      function tree(item: Item): any { return { left: tree(item), right: tree(item) }; }
      export default {
        ${triggered}
        properties({ properties }) {
          const items = properties.items;
          const rows: any[] = items.map((item) => ({ name: item.name }));
          for (const row of rows) row.extra = 1;
          const list: any[] = properties.tags.map((tag) => tag);
          list.push(5);
          return {
            flat: items.flatMap((item) => (item.ok ? [item.name] : [])),
            label: label(items[0]),
            kind: kind(items[0]),
            some: items.map((item) => { if (item.ok) return item.name; }),
            spread: { text: 'none', ...{ text: properties.sub } },
            computed: { title: 'x', [properties.key]: 5 },
            json: JSON.stringify(properties.raw),
            rows,
            list,
            tree: tree(items[0]),
          };
        },
      } satisfies FullSchema<Page>;`,
  });
  for (const [name, type] of [
    ['flat', 'readonly string[]'],
    ['kind', 'number'],
    ['some', 'readonly (string | null)[]'],
    ['rows', 'Json'],
    ['list', 'Json'],
  ] as const) {
    assert.ok(types.includes(`readonly ${name}: ${type};`), `${name}: ${types}`);
  }
  assert.ok(types.includes('readonly label?: string;'), types);
  assert.ok(types.includes('readonly json?: string;'), types);
  assert.ok(types.includes('readonly text?: string;'), types);
  assert.ok(types.includes('readonly title: Json;'), types);
  assert.match(types, /readonly tree: \{\s+readonly left: Json;\s+readonly right: Json;/);
});

test('types file: the types and the client compile strictly, and a wrong name does not', async (context) => {
  const demo = await readConfiguration(path.join(root, 'config'));
  assert.ok(demo.ok);
  const site = await readConfiguration(
    path.join(await folderWith(context, Object.fromEntries(newSite('site'))), 'config'),
  );
  assert.ok(site.ok, JSON.stringify(site));
  const folder = await folderWith(context, {
    'millrace.ts': typesFile(demo.documents, 'atlas'),
    'site.ts': typesFile(site.documents, 'site'),
  });
  writeFileSync(
    path.join(folder, 'page.ts'),
    `import { createClient } from 'millrace/client';
import type { Millrace, Views } from './millrace.ts';
import type { Views as SiteViews } from './site.ts';

const client = createClient<Millrace>({ url: 'http://127.0.0.1:4000' });
export const card: Views['countryCard'] = { code: 'FR', name: 'France', flag: null, url: '/europe/france' };
// @ts-expect-error: nothing is called so
card.nam;
// @ts-expect-error: a text is no number
export const wrong: Views['countryCard'] = { ...card, name: 5 };

export function showArticle(article: SiteViews['article']): string {
  // @ts-expect-error: nothing is called so
  article.tilte;
  // @ts-expect-error: a text has no such method
  article.title.toUperCase();
  // @ts-expect-error: it may be absent
  article.text.length;
  return article.title.toUpperCase() + (article.text?.length ?? 0) + (article.author?.name.trim() ?? '');
}

export async function show(): Promise<void> {
  const { view } = await client.byUrl('/europe/france');
  if (view !== null && 'largestCities' in view) {
    const sizes: (number | null | undefined)[] = view.largestCities.map((city) => city?.population);
    console.log(sizes, view.capital?.name?.toUpperCase());
    // @ts-expect-error: nothing is called so
    view.captial;
    // @ts-expect-error: null is possible
    view.capital.name;
  }
  await client.byHandle('country-FR');
  // @ts-expect-error: no view has such a handle
  await client.byHandle('coutry-FR');
  const { results } = await client.query('cities', {});
  console.log(results[0]?.name?.length, results[0]?._originId);
  // @ts-expect-error: the index has no such field
  results[0]?.nmae;
  // @ts-expect-error: there is no such index
  await client.query('citys', {});
  for await (const item of client.queryAll('countries')) console.log(item.code);
  await ask(client);
}

type AtlasClient = ReturnType<typeof createClient<Millrace>>;

async function ask(atlas: AtlasClient): Promise<void> {
  await atlas.query('cities', {
    search: { fields: [{ field: 'name', weight: 2 }], value: 'Paris', prefix: true },
    filters: {
      and: [
        { field: 'population', operator: 'greaterThan', value: 5 },
        { or: [{ field: 'country', operator: 'in', value: ['FR'] }, { field: '_originId', operator: 'exists', value: true }] },
      ],
    },
    facets: [{ field: 'country', size: 5 }],
    sort: [{ field: '_score', order: 'desc' }, { field: 'population' }],
    pagination: { pageSize: 5, nextPageToken: null },
    aliases: ['city'],
    fields: ['name'],
    distinct: 'country',
  });
  const { cities, all } = await atlas.multiQuery([
    { name: 'cities', index: 'cities', filters: { or: [{ field: 'name', operator: 'equals', value: 'Paris' }] } },
    { name: 'all', index: 'countries' },
  ]);
  console.log(cities.results[0]?.name?.length, all.results[0]?.code);
  // @ts-expect-error: an item of the other index
  cities.results[0]?.code;
  await atlas.queryGroup('world', 'city', { sort: [{ field: 'anything' }] });
  // @ts-expect-error: a misspelt member
  await atlas.query('cities', { serach: { value: 'Paris' } });
  // @ts-expect-error: a misspelt member of a search
  await atlas.query('cities', { search: { field: 'name', vlaue: 'Paris' } });
  // @ts-expect-error: a misspelt member of a page
  await atlas.query('cities', { pagination: { pagesize: 5 } });
  // @ts-expect-error: the index has no such field
  await atlas.query('cities', { sort: [{ field: 'nmae' }] });
  // @ts-expect-error: the index has no such field
  await atlas.query('cities', { filters: { and: [{ field: 'nmae', operator: 'equals', value: 'Paris' }] } });
  // @ts-expect-error: the index has no such field
  await atlas.query('cities', { filters: { and: [{ or: [{ field: 'nmae', operator: 'equals', value: 1 }] }] } });
  // @ts-expect-error: the index has no such field
  await atlas.query('cities', { search: { fields: [{ field: 'nmae' }], value: 'Paris' } });
  // @ts-expect-error: the index has no such field
  await atlas.query('cities', { facets: [{ field: 'nmae' }] });
  // @ts-expect-error: the index has no such field
  atlas.queryAll('cities', { fields: ['nmae'] });
  // @ts-expect-error: there is no such operator
  await atlas.query('cities', { filters: { and: [{ field: 'name', operator: 'equal', value: 'Paris' }] } });
  // @ts-expect-error: a misspelt member of a condition
  await atlas.query('cities', { filters: { and: [{ field: 'name', operator: 'equals', valeu: 'Paris' }] } });
  // @ts-expect-error: a place has other members
  await atlas.query('cities', { filters: { and: [{ field: 'name', operator: 'withinDistance', value: { lat: 1 } }] } });
  // @ts-expect-error: no schema has this alias
  await atlas.query('cities', { aliases: ['citty'] });
  // @ts-expect-error: the other index has no such field
  await atlas.multiQuery([{ name: 'all', index: 'countries', sort: [{ field: 'population' }] }, { name: 'cities', index: 'cities', sort: [{ field: 'nmae' }] }]);
}

export const untyped = async (one: ReturnType<typeof createClient>) => (await one.byUrl('/')).view?.anything;
export const made = untyped(createClient({ url: 'http://127.0.0.1:4000' }));
`,
  );
  const options = {
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom', 'dom.asynciterable'],
    types: [],
    allowImportingTsExtensions: true,
    paths: { 'millrace/client': [path.join(root, 'src/client/client.ts')] },
  };
  const project = path.join(folder, 'tsconfig.json');
  writeFileSync(project, JSON.stringify({ compilerOptions: options, files: ['page.ts'] }));
  assert.equal(await compilerSays(['--project', project], folder), '');
});
