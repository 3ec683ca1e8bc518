/** What the simulated platform serves: the page and product schemas of the actors' world, in one environment. */
import { worldDocuments } from '../../actors/support/world.ts';

export const tenant = 'acme';
export const environmentId = 'env-1';

interface TenantFile {
  readonly sourceGroups: readonly { readonly sources: { id: string; environments: string[] }[] }[];
}

/** Left out: a schema whose many lookups would make up most of the work of a schedule. */
const leftOut = /summary\.json$/;

export const documents: ReadonlyMap<string, string> = new Map(
  [...worldDocuments()]
    .filter(([file]) => file.startsWith(`tenants/${tenant}/`) && !leftOut.test(file))
    .map(([file, text]) => [file, file.endsWith('/tenant.json') ? inOneEnvironment(text) : text]),
);

function inOneEnvironment(text: string): string {
  const file = JSON.parse(text) as TenantFile;
  for (const { sources } of file.sourceGroups) {
    for (const source of sources) {
      if (source.environments.includes('production')) source.environments = ['production'];
    }
  }
  return JSON.stringify(file);
}

/** Views that nobody makes here, by their key in `World.views`. */
export function isMade(viewKey: string): boolean {
  return !viewKey.includes(':summary:');
}
