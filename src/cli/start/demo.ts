import { createWriteStream, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { atlasEntities, hasAtlasPackages, lastEntity } from '../../../config/atlas-entities.ts';
import { counted } from '../../lib/message-text.ts';
import { importFile } from '../import/import-file.ts';
import { askFront, type Trust } from '../platform/own-front.ts';
import { makeFolder } from './data-dir.ts';
import { waitUntilSettled } from './wait-until-settled.ts';

/** The keys of `config/tenants/atlas/tenant.json`. */
export const demoKeys = {
  source: 'source-atlas-demo',
  environment: 'environment-atlas-demo',
  management: 'management-atlas-demo',
} as const;

const importConcurrency = 4;

export interface DemoOptions {
  readonly baseUrl: string;
  readonly trust: Trust;
  readonly dataDir: string;
  /** The setting `METRICS_KEY`. */
  readonly metricsKey: string | null;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/**
 * Loads the demo tenant like any client: over HTTP, with the importer. It is loaded if its last entity is missing, so also
 * after an interrupted load or in an emptied store.
 */
export async function loadDemo(options: DemoOptions): Promise<void> {
  const { baseUrl, trust, dataDir, signal, say } = options;
  if (await isLoaded(baseUrl, trust)) return;
  if (!hasAtlasPackages()) {
    say(
      'The demo data is not loaded, because its packages are missing. Install them with: npm ci --include=dev',
    );
    return;
  }
  say('Loading the demo tenant: countries, regions and cities of the world (only at the first start)');
  makeFolder(dataDir);
  const file = path.join(dataDir, 'atlas.ndjson');
  await pipeline(Readable.from(lines()), createWriteStream(file), { signal });
  const { failed, stoppedBy } = await importFile(
    { file, sourceKey: demoKeys.source, baseUrl, trust, concurrency: importConcurrency },
    signal,
  );
  if (failed > 0 || stoppedBy !== null) {
    if (!signal.aborted) say('The demo tenant is not complete. The next start tries again.');
    return;
  }
  rmSync(file);
  await waitUntilSettled(options, (waiting) => say(`building pages: ${counted(waiting, 'change')} left`));
}

async function isLoaded(baseUrl: string, trust: Trust): Promise<boolean> {
  const { status, text } = await askFront(`${baseUrl}/v2?handle=${lastEntity.handle}`, trust, {
    'X-Api-Key': demoKeys.environment,
  });
  return status === 200 && text.includes(`"${lastEntity.handle}"`);
}

async function* lines(): AsyncGenerator<string> {
  for await (const entity of atlasEntities()) yield `${JSON.stringify(entity)}\n`;
}
