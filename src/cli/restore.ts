/** `npm run restore -- FILE`: restores a backup into an empty store. The processes rebuild everything else from it. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Configuration } from '../config/configuration.ts';
import { loadConfiguration } from '../config/documents/load.ts';
import { readConfiguration } from '../config/documents/read-documents.ts';
import { commandSettings } from '../config/settings/settings.ts';
import { keptMark, keptPlaces } from '../config/tenant/kept-secrets.ts';
import { counted, reasonOf } from '../lib/message-text.ts';
import { script } from '../lib/typed-command.mjs';
import { FencedError } from '../store/redis/redis-errors.ts';
import type { Store } from '../store/store.ts';
import { type CheckedBackup, checkBackup, restoreBackup } from './backup/read-backup.ts';
import { redisAddress, withCommandStore } from './platform/open-store.ts';
import { CommandStop, readArguments, requiredFile, runCommand } from './terminal/command-line.ts';
import { withBar } from './terminal/percent-bar.ts';

const unfinished = 'Stopped. Run the same command again to finish the restore.';

async function main(): Promise<number> {
  const { values, positionals } = readArguments('restore');
  const file = requiredFile('restore', positionals);
  const configOut = values['config-out'];
  const settings = commandSettings();
  // Fails early if there is no platform, before the whole file is checked.
  redisAddress(settings);
  const backup = await check(file);
  const loaded = loadConfiguration(backup.documents, 'stored');
  if (!loaded.ok) {
    throw new CommandStop(
      `${file} has a configuration of another version of Millrace. Restore it with that version.`,
    );
  }
  const work = () =>
    withCommandStore((store) => restore(store, file, backup, loaded.configuration), settings);
  await (configOut === undefined ? work() : withFolder(configOut, backup.documents, work));
  const kept = keptPlaces(backup.documents);
  if (kept.length > 0) {
    console.log(
      'Note: a backup contains no secrets. Webhooks without theirs are disabled, and a configuration folder that has ' +
        `"${keptMark}" in their place is rejected. Write the values of ${kept.join(', ')}.`,
    );
  }
  // Without CONFIG_DIR, npm start keeps the restored configuration.
  if (!settings.isConfigDirGiven) return 0;
  const folder = await readConfiguration(settings.configDir);
  if (!folder.ok || folder.configuration.digest !== loaded.configuration.digest) {
    console.log(
      `Note: ${settings.configDir} contains a configuration other than that of the backup, and ${script('start')} will activate it. ` +
        'To prevent that, use the files of --config-out instead.',
    );
  }
  return 0;
}

async function check(file: string): Promise<CheckedBackup> {
  try {
    return await withBar('Stopped.', (bar, signal) =>
      checkBackup(file, (percent, entities) => {
        signal.throwIfAborted();
        bar.show(percent, `${counted(entities, 'entity', 'entities')} checked`);
      }),
    );
  } catch (error) {
    if (error instanceof CommandStop)
      throw new CommandStop(`${error.message} Nothing was restored.`, error.exitCode);
    throw error;
  }
}

function requireNoFolder(folder: string): void {
  if (!existsSync(folder)) return;
  throw new CommandStop(
    `--config-out: ${folder} already exists. Nothing was restored; choose another folder.`,
  );
}

/**
 * Writes the documents into a new folder. It gets its name only after the work, because a restore that was refused or
 * interrupted is run again with the same arguments. Loading the configuration has checked the paths of the documents.
 * @throws CommandStop before the work, if the folder exists or cannot be written
 */
async function withFolder(
  folder: string,
  documents: CheckedBackup['documents'],
  work: () => Promise<void>,
): Promise<void> {
  requireNoFolder(folder);
  const part = `${path.resolve(folder)}.${randomBytes(4).toString('hex')}.part`;
  try {
    writeDocuments(part, documents);
    await work();
    renameSync(part, folder);
  } finally {
    if (existsSync(part)) rmSync(part, { recursive: true, force: true });
  }
}

function writeDocuments(folder: string, documents: CheckedBackup['documents']): void {
  try {
    for (const [name, text] of documents) {
      const file = path.join(folder, name);
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text, { mode: 0o600 });
    }
  } catch (error) {
    throw new CommandStop(
      `--config-out cannot be written: ${reasonOf(error)}. Nothing was restored; choose another folder.`,
    );
  }
}

async function restore(
  store: Store,
  file: string,
  backup: CheckedBackup,
  configuration: Configuration,
): Promise<void> {
  try {
    await withBar(unfinished, (bar, signal) =>
      restoreBackup({ store, file, backup, configuration, signal, onProgress: (...far) => bar.show(...far) }),
    );
  } catch (error) {
    if (error instanceof FencedError) {
      throw new CommandStop('Another restore is using this store. Wait until it has ended.');
    }
    throw error;
  }
  console.log(
    `Restored ${counted(backup.entities, 'entity', 'entities')} and ` +
      `${counted(backup.documents.size, 'configuration file')} of ${backup.createdAt}.`,
  );
}

await runCommand(main);
