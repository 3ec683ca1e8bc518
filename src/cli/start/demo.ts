import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { atlasEntities, hasAtlasPackages, lastEntity } from '../../../config/atlas-entities.ts';
import { importFile } from '../import/import-file.ts';
import { waitUntilSettled } from './settled.ts';

/** The keys of `config/tenants/atlas/tenant.json`. */
export const demoKeys = { source: 'source-atlas-demo', environment: 'environment-atlas-demo' } as const;

const importConcurrency = 4;

export interface DemoOptions {
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/**
 * Loads the demo tenant as any client would: over HTTP, with the importer. Its last entity is the sign that it is
 * there, so a load that was broken off is taken up again, and a store that was emptied is filled again.
 */
export async function loadDemo({ baseUrl, dataDir, signal, say }: DemoOptions): Promise<void> {
  if (await isLoaded(baseUrl)) return;
  if (!hasAtlasPackages()) {
    say(
      'The demo data is not loaded: its optional packages are missing. Get them with: npm ci --include=optional',
    );
    return;
  }
  say('Loading the demo tenant: countries, regions and cities of the world (this happens once)');
  mkdirSync(dataDir, { recursive: true });
  const file = path.join(dataDir, 'atlas.ndjson');
  await pipeline(Readable.from(lines()), createWriteStream(file), { signal });
  const { failed, stoppedBy } = await importFile(
    { file, sourceKey: demoKeys.source, baseUrl, concurrency: importConcurrency },
    signal,
  );
  if (failed > 0 || stoppedBy !== null) {
    if (!signal.aborted) say('The demo tenant is not complete; the next start tries again.');
    return;
  }
  rmSync(file);
  await waitUntilSettled(baseUrl, signal, (waiting) => say(`building its pages: ${waiting} changes to go`));
}

async function isLoaded(baseUrl: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/v2?handle=${lastEntity.handle}`, {
    headers: { 'X-Api-Key': demoKeys.environment },
  });
  if (response.status === 401) return false;
  const body = await response.text();
  return response.status === 200 && body.includes(`"${lastEntity.handle}"`);
}

async function* lines(): AsyncGenerator<string> {
  for await (const entity of atlasEntities()) yield `${JSON.stringify(entity)}\n`;
}
