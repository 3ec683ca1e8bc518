import type { Configuration } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { readPublished } from '../../../src/store/configuration/published-configuration.ts';
import { verify } from '../../../src/verify/verification.ts';
import type { System } from './processes/system.ts';

/** The active configuration, including lookups that code has requested. */
async function activeConfiguration(system: System): Promise<Configuration> {
  const published = await readPublished(await system.store());
  const loaded = published === null ? null : loadConfiguration(published.documents, 'stored');
  return loaded?.ok === true ? loaded.configuration : system.configuration;
}

/** The differences that `npm run verify` would report. Entities that do not settle are reported too, as all of them should. */
export async function differencesFoundByVerify(system: System): Promise<string[]> {
  const differences: string[] = [];
  const { unsettled } = await verify({
    store: await system.store(),
    configuration: await activeConfiguration(system),
    tenant: null,
    isRepair: false,
    onProgress: () => {},
    onDifference: ({ subject, message }) => differences.push(`${subject}: ${message}`),
  });
  return unsettled === 0 ? differences : [...differences, `${unsettled} entities did not settle`];
}
