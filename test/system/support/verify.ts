import { verify } from '../../../src/verify/verification.ts';
import type { System } from './processes/system.ts';

/** What `npm run verify` would report, in its words. What changes at every look is reported too: nothing should. */
export async function differencesFoundByVerify(system: System): Promise<string[]> {
  const differences: string[] = [];
  const { unsettled } = await verify({
    store: await system.store(),
    configuration: system.configuration,
    tenant: null,
    isRepair: false,
    onProgress: () => {},
    onDifference: ({ subject, message }) => differences.push(`${subject}: ${message}`),
  });
  return unsettled === 0 ? differences : [...differences, `${unsettled} entities did not settle`];
}
