/** What the simulated platform serves: the page and product schemas of the actors' world, two tenants in one environment. */
import { type LoadOutcome, loadConfiguration } from '../../../src/config/load.ts';
import type { ConfigDocuments, Tenant } from '../../../src/config/types.ts';
import { tenantsOf } from '../../actors/support/stored.ts';
import { worldDocuments } from '../../actors/support/world.ts';

export const tenants = ['acme', 'other'] as const;
export type TenantAlias = (typeof tenants)[number];
export const environmentId = 'env-1';

interface TenantFile {
  readonly sourceGroups: readonly { readonly sources: { id: string; environments: string[] }[] }[];
}

/** Left out: a schema whose many lookups would make up most of the work of a schedule. */
const leftOut = /summary\.json$/;

export const documents: ReadonlyMap<string, string> = new Map(
  [...worldDocuments()]
    .filter(([file]) => !leftOut.test(file))
    .map(([file, text]) => [file, file.endsWith('/tenant.json') ? inOneEnvironment(text) : text]),
);

export const loadedTenants: readonly Tenant[] = tenantsOf(documents);

function inOneEnvironment(text: string): string {
  const file = JSON.parse(text) as TenantFile;
  for (const { sources } of file.sourceGroups) {
    for (const source of sources) {
      if (source.environments.includes('production')) source.environments = ['production'];
    }
  }
  return JSON.stringify(file);
}

const loaded = new Map<string, LoadOutcome>();

/** As `loadConfiguration`: equal documents are loaded once, however many simulated processes ask for them. */
export function loadOnce(given: ConfigDocuments): LoadOutcome {
  const text = JSON.stringify([...given]);
  const known = loaded.get(text) ?? loadConfiguration(given);
  loaded.set(text, known);
  return known;
}

/** Views that nobody makes here, by their key in `World.views`. */
export function isMade(viewKey: string): boolean {
  return !viewKey.includes(':summary:');
}
