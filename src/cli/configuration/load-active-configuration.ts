import type { Configuration, Tenant } from '../../config/configuration.ts';
import { loadConfiguration } from '../../config/documents/load.ts';
import type { PathObserver } from '../../schemas/language/scope.ts';
import { readPublished } from '../../store/configuration/published-configuration.ts';
import type { Store } from '../../store/store.ts';
import { CommandStop } from '../terminal/command-stop.ts';

/**
 * Reads the active configuration of the store.
 * @param observer as for `loadConfiguration`
 * @throws CommandStop when there is none, or when it does not have the tenant
 */
export async function activeConfiguration(
  store: Store,
  tenant: string | null,
  observer: PathObserver | null = null,
): Promise<{ configuration: Configuration; generation: number }> {
  const published = await readPublished(store);
  if (published === null) {
    throw new CommandStop(
      'This store has no active configuration yet. Run npm start or npm run apply first.',
    );
  }
  const loaded = loadConfiguration(published.documents, 'stored', observer);
  if (!loaded.ok) {
    throw new CommandStop(
      'The active configuration was written by another version of Millrace. Run this command of that version.',
    );
  }
  const { configuration } = loaded;
  if (tenant !== null && !configuration.tenants.has(tenant)) {
    const known = [...configuration.tenants.keys()].join(', ');
    throw new CommandStop(`There is no tenant ${JSON.stringify(tenant)}; there are: ${known}.`);
  }
  return { configuration, generation: published.generation };
}

/** The tenant of that name, or the only one. @throws CommandStop when there are several and none is named */
export function oneTenant({ tenants }: Configuration, name: string | null): Tenant {
  const all = [...tenants.values()];
  const found = name === null ? all[0] : tenants.get(name);
  if (found !== undefined && (name !== null || all.length === 1)) return found;
  const known = all.map(({ alias }) => alias).join(', ');
  throw new CommandStop(`There are several tenants (${known}). Choose one with --tenant.`);
}
