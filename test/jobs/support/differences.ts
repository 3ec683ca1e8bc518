import assert from 'node:assert/strict';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { readPublished } from '../../../src/store/configuration/published-configuration.ts';
import { verify } from '../../../src/verify/verification.ts';
import type { Platform } from './platform.ts';

/** The differences between the store and a new computation. */
export async function differencesIn({ store }: Platform): Promise<string[]> {
  const found: string[] = [];
  const loaded = loadConfiguration((await readPublished(store))?.documents ?? new Map(), 'stored');
  assert.ok(loaded.ok);
  await verify({
    store,
    configuration: loaded.configuration,
    tenant: null,
    isRepair: false,
    onProgress: () => {},
    onDifference: ({ subject, message }) => found.push(`${subject}: ${message}`),
  });
  return found;
}
