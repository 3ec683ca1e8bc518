/**
 * `npm run backup -- FILE`: writes the active configuration and all source entities to a file while the platform runs.
 */

import { loadConfiguration } from '../config/documents/load.ts';
import { counted } from '../lib/message-text.ts';
import { readGenerations, readPublished } from '../store/configuration/published-configuration.ts';
import type { Store } from '../store/store.ts';
import { writeBackup } from './backup/write.ts';
import { withCommandStore } from './platform/open-store.ts';
import { CommandStop, readArguments, requiredFile, runCommand } from './terminal/command-line.ts';
import { percentOf, withBar } from './terminal/percent-bar.ts';

async function main(): Promise<number> {
  const file = requiredFile('backup', readArguments('backup').positionals);
  await withCommandStore((store) => backup(store, file));
  return 0;
}

async function backup(store: Store, file: string): Promise<void> {
  const published = await readPublished(store);
  if (published === null) {
    throw new CommandStop('This store has no active configuration yet, so there is nothing to back up.');
  }
  const loaded = loadConfiguration(published.documents, 'stored');
  if (!loaded.ok)
    throw new CommandStop(
      'The active configuration was written by another version of Millrace. Run npm run backup of that version.',
    );
  const { configuration } = loaded;
  const entities = await withBar('Stopped: no backup was written.', (bar, signal) => {
    const onProgress = (done: number, total: number) =>
      bar.show(percentOf(done, total), `${counted(done, 'entity', 'entities')} written`);
    return writeBackup({ store, published, configuration, file, signal, onProgress }, () =>
      changeSince(store, published.generation),
    );
  });
  console.log(
    `${file}: ${counted(entities, 'entity', 'entities')}, ${counted(published.documents.size, 'configuration file')}.`,
  );
}

/** Error message if the configuration has changed: the backup would not have the sources of the new one. */
async function changeSince(store: Store, generation: number): Promise<string | null> {
  const { active } = await readGenerations(store);
  if (active === generation) return null;
  return 'The configuration changed during the backup, so no backup was written. Run it again.';
}

await runCommand(main);
