/** `npm run backup -- FILE`: the active configuration and all source entities in one file, while everything runs. */
import { parseArgs } from 'node:util';
import { environmentWithFile } from '../config/environment.ts';
import { counted } from '../config/issue-text.ts';
import { loadConfiguration } from '../config/load.ts';
import { readSettings } from '../config/settings.ts';
import { readPublished } from '../store/configuration.ts';
import { readGenerations } from '../store/rebuild-generation.ts';
import type { Store } from '../store/store.ts';
import { writeBackup } from './backup/write.ts';
import { CommandStop, runCommand } from './command-stop.ts';
import { withStore } from './open-store.ts';
import { PercentBar } from './percent-bar.ts';
import { redisAddress } from './redis-address.ts';

const usage = `Usage: npm run backup -- FILE

Writes the active configuration and all source entities of its sources into FILE (NDJSON, packed with gzip), while the
system runs. Views, routes and index items are not in it: npm run restore has them made anew.

Each entity is in it as it was at one moment, and every entity that was there during the whole backup is in it; those
that came or went meanwhile may be. API keys are in it as hashes only.

  --help   this text

Exit code 0: FILE is whole; 1: there is none; 130: stopped by Ctrl-C.`;

const commandTimeoutMs = 60_000;

async function main(): Promise<number> {
  const file = readArguments();
  if (file === null) {
    console.log(usage);
    return 0;
  }
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

/** The file, or null when help is asked for. */
function readArguments(): string | null {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean' } },
    });
    const [file, ...more] = positionals;
    if (values.help === true) return null;
    if (file !== undefined && more.length === 0) return file;
  } catch (error) {
    throw new CommandStop(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
  throw new CommandStop('Which FILE? One, as in: npm run backup -- backup.ndjson.gz');
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
