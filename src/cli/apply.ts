/**
 * `npm run apply`: makes the configuration in CONFIG_DIR the active one without a restart (contract section 2), and
 * waits until what it changes is rebuilt. A configuration with mistakes changes nothing.
 */
import { parseArgs } from 'node:util';
import { environmentWithFile } from '../config/environment.ts';
import { readSettings } from '../config/settings.ts';
import { rebuildJobs } from '../jobs/rebuild-queue.ts';
import { publishConfiguration } from '../store/configuration.ts';
import { readGenerations } from '../store/rebuild-generation.ts';
import type { Store } from '../store/store.ts';
import { CommandStop, runCommand } from './command-stop.ts';
import { withStore } from './open-store.ts';
import { PercentBar } from './percent-bar.ts';
import { readSoundConfiguration, type SoundConfiguration } from './publish.ts';
import { waitForProcesses, waitForRebuild } from './rebuild-wait.ts';
import { redisAddress } from './redis-address.ts';

const usage = `Usage: npm run apply [-- --no-wait]

Makes the configuration in CONFIG_DIR the active one, without a restart, and waits until every view and index item
that it changes is rebuilt. A configuration with mistakes is refused as a whole, and the running one stays.

  --no-wait   only make it the active one
  --help      this text

Exit code 0: active, and rebuilt unless --no-wait; 1: refused, or the rebuild cannot go on.`;

const commandTimeoutMs = 30_000;

async function main(): Promise<number> {
  const { isHelp, isWaiting } = readArguments();
  if (isHelp) {
    console.log(usage);
    return 0;
  }
  const settings = readSettings(environmentWithFile(process.env, process.cwd()));
  const configuration = await readSoundConfiguration(settings.configDir);
  return await withStore(redisAddress(settings), settings.partitions, commandTimeoutMs, (store) =>
    apply(store, configuration, isWaiting),
  );
}

function readArguments(): { isHelp: boolean; isWaiting: boolean } {
  try {
    const { values } = parseArgs({ options: { 'no-wait': { type: 'boolean' }, help: { type: 'boolean' } } });
    return { isHelp: values.help === true, isWaiting: values['no-wait'] !== true };
  } catch (error) {
    throw new CommandStop(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

async function apply(
  store: Store,
  { documents, configuration }: SoundConfiguration,
  isWaiting: boolean,
): Promise<number> {
  const { active } = await readGenerations(store);
  const generation = await publishConfiguration(store, documents, configuration);
  console.log(
    generation === active
      ? `The configuration is as it was (generation ${generation}).`
      : `The configuration is the active one now (generation ${generation}).`,
  );
  if (!isWaiting) return 0;
  const running = await waitForProcesses(store, generation);
  if (running === 0) {
    console.log('No process runs now; those that start will take it up.');
    return 0;
  }
  console.log(`All ${running} processes run it.`);
  const queue = rebuildJobs(store);
  const bar = new PercentBar();
  try {
    await waitForRebuild(store, queue, generation, bar);
  } finally {
    bar.stop();
    await queue.close();
  }
  console.log('Everything that it changes is rebuilt.');
  return 0;
}

await runCommand(main);
