/** `npm run backup -- FILE`: the active configuration and all source entities in one file, while everything runs. */

import { counted } from '../config/documents/issue-text.ts';
import { loadConfiguration } from '../config/documents/load.ts';
import { environmentWithFile } from '../config/settings/environment.ts';
import { readSettings } from '../config/settings/settings.ts';
import { readPublished } from '../store/configuration/published-configuration.ts';
import { readGenerations } from '../store/configuration/rebuild-generation.ts';
import type { Store } from '../store/store.ts';
import { writeBackup } from './backup/write.ts';
import { withStore } from './platform/open-store.ts';
import { redisAddress } from './platform/redis-address.ts';
import { readArguments, requiredFile } from './terminal/arguments.ts';
import { CommandStop, runCommand } from './terminal/command-stop.ts';
import { PercentBar } from './terminal/percent-bar.ts';

const commandTimeoutMs = 60_000;

async function main(): Promise<number> {
  const file = requiredFile('backup', readArguments('backup').positionals);
  const settings = readSettings(environmentWithFile(process.env, process.cwd()));
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
  try {
    await withStore(redisAddress(settings), settings, commandTimeoutMs, (store) =>
      backup(store, file, interrupt.signal),
    );
    return 0;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    console.error('Stopped: no backup was written.');
    return 130;
  }
}

async function backup(store: Store, file: string, signal: AbortSignal): Promise<void> {
  const published = await readPublished(store);
  if (published === null) {
    throw new CommandStop('This store has no active configuration yet: there is nothing to back up.');
  }
  const loaded = loadConfiguration(published.documents, 'stored');
  if (!loaded.ok) throw new CommandStop('The active configuration was made by another version of Millrace.');
  const bar = new PercentBar();
  try {
    const entities = await writeBackup(
      {
        store,
        published,
        configuration: loaded.configuration,
        file,
        signal,
        onProgress: (done, total) =>
          bar.show(
            Math.min(99, Math.floor((100 * done) / Math.max(1, total))),
            `${done.toLocaleString('en-US')} entities written`,
          ),
      },
      () => changeSince(store, published.generation),
    );
    bar.stop();
    console.log(
      `${file}: ${counted(entities, 'entity', 'entities')}, ${counted(published.documents.size, 'configuration file')}.`,
    );
  } finally {
    bar.stop();
  }
}

/** Sources of a configuration that came meanwhile would be missing. */
async function changeSince(store: Store, generation: number): Promise<string | null> {
  const { active } = await readGenerations(store);
  if (active === generation) return null;
  return 'The configuration changed meanwhile, so no backup was written: run it again.';
}

await runCommand(main);
