/**
 * The content of the simulated platform: the schemas of the actors' world, two tenants in one environment. A change of the
 * configuration omits some of it, or restores it.
 */

import type { ConfigDocuments, Configuration, Tenant } from '../../../src/config/configuration.ts';
import { byTenant, fingerprintOf, hashKeys } from '../../../src/config/documents/canonical.ts';
import { type LoadOutcome, loadingStored, type TenantTexts } from '../../../src/config/documents/load.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { type World, worldDocuments } from '../../actors/support/world.ts';

export const tenants = ['acme', 'other'] as const;
export type TenantAlias = (typeof tenants)[number];
export const environmentId = 'env-1';

/**
 * The optional parts: a schema with its routes and a lookup, an index, and lookups of a schema, without which other lookup
 * indexes are needed.
 */
export const parts = ['schema product', 'index pages', 'lookup tagged', 'lookup products'] as const;
export type Part = (typeof parts)[number];

/** One configuration, and the naive recomputation of a world with it. */
export interface Site {
  /** As published. */
  readonly documents: ConfigDocuments;
  readonly configuration: Configuration;
  readonly loadedTenants: readonly Tenant[];
  views(world: World): Map<string, Json>;
  /** Fields of the items of the index `pages`, by originId. */
  pageItems(world: World): Map<string, JsonObject>;
  claims(world: World): string[];
}

interface TenantFile {
  readonly sourceGroups: readonly { sources: { id: string; environments: string[] }[] }[];
}

interface SchemaFile {
  readonly properties: Record<string, unknown>;
}

const files: Readonly<Partial<Record<Part, RegExp>>> = {
  'schema product': /schemas\/product\.json$/,
  'index pages': /indexes\/pages\.json$/,
};
const properties: Readonly<Partial<Record<Part, string>>> = {
  'lookup tagged': 'tagged',
  'lookup products': 'products',
};
/** Always omitted: a schema whose many lookups would dominate the work of a schedule. */
const summary = /schemas\/summary\.json$/;

const sites = new Map<string, Site>();

export function siteWithout(leftOut: readonly Part[]): Site {
  const name = leftOut.join();
  const site = sites.get(name) ?? makeSite(new Set(leftOut));
  sites.set(name, site);
  return site;
}

function makeSite(leftOut: ReadonlySet<Part>): Site {
  const goneFiles = [summary, ...[...leftOut].flatMap((part) => files[part] ?? [])];
  const goneProperties = [...leftOut].flatMap((part) => properties[part] ?? []);
  const documents = new Map(
    [...worldDocuments()]
      .filter(([file]) => !goneFiles.some((gone) => gone.test(file)))
      .map(([file, text]) => [file, documentOf(file, text, goneProperties)]),
  );
  const published = hashKeys(documents);
  const texts = [...byTenant(published)].map(
    ([tenant, documents]) => [tenant, { fingerprint: fingerprintOf(documents), documents }] as const,
  );
  const loaded = loadOnce(new Map(texts));
  if (!loaded.ok) throw new Error(loaded.issues[0]?.message);
  const { configuration } = loaded;
  return {
    documents: published,
    configuration,
    loadedTenants: [...configuration.tenants.values()],
    views: (world) => {
      const made = [...world.views(environmentId)].filter(
        ([key]) =>
          !key.includes(':summary:') && !(leftOut.has('schema product') && key.includes(':product:')),
      );
      return new Map(made.map(([key, view]) => [key, without(view, goneProperties)]));
    },
    pageItems: (world) => (leftOut.has('index pages') ? new Map() : world.pageItems()),
    claims: (world) =>
      world
        .claims(environmentId)
        .filter((line) => !(leftOut.has('schema product') && /^\S+ (?:page|redirect) product /.test(line))),
  };
}

function documentOf(file: string, text: string, goneProperties: readonly string[]): string {
  if (file.endsWith('/tenant.json')) return inOneEnvironment(text);
  if (!file.endsWith('/page.json')) return text;
  const schema = JSON.parse(text) as SchemaFile;
  for (const property of goneProperties) delete schema.properties[property];
  return JSON.stringify(schema);
}

function inOneEnvironment(text: string): string {
  const file = JSON.parse(text) as TenantFile;
  for (const group of file.sourceGroups) {
    group.sources = group.sources.filter(({ environments }) => environments.includes('production'));
    for (const source of group.sources) source.environments = ['production'];
  }
  return JSON.stringify(file);
}

/** A view without some of its properties. */
function without(view: Json, gone: readonly string[]): Json {
  return Object.fromEntries(Object.entries(view as JsonObject).filter(([name]) => !gone.includes(name)));
}

const loaded = new Map<string, LoadOutcome>();

/** Like `loadingStored`: equal documents are loaded once, however many simulated processes read them. */
export function loadOnce(
  tenants: ReadonlyMap<string, TenantTexts>,
  former: Configuration | null = null,
): LoadOutcome {
  const name = [...tenants].map(([tenant, { fingerprint }]) => `${tenant} ${fingerprint}`).join('\n');
  const known = loaded.get(name) ?? runSync(loadingStored(tenants, former === null ? [] : [former]));
  loaded.set(name, known);
  return known;
}
