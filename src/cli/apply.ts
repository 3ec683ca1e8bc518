/**
 * `npm run apply`: makes the configuration in CONFIG_DIR the active one without a restart (contract section 2), and
 * waits until what it changes is rebuilt. A configuration with mistakes changes nothing.
 */
import { parseArgs } from 'node:util';
import { environmentWithFile } from '../config/environment.ts';
import { readSettings } from '../config/settings.ts';
import { rebuildJobs } from '../jobs/rebuild-queue.ts';
import type { Store } from '../store/store.ts';
import { CommandStop, runCommand } from './command-stop.ts';
import { requireConsent } from './consent.ts';
import { obstacleOf, waitForProcesses, waitForRebuild } from './job-wait.ts';
import { withStore } from './open-store.ts';
import { PercentBar } from './percent-bar.ts';
import { applyFolder, type FolderSettings } from './publish.ts';
import { redisAddress } from './redis-address.ts';
import { lossesText } from './removal-plan.ts';

const usage = `Usage: npm run apply [-- --no-wait] [--yes]

Makes the configuration in CONFIG_DIR the active one, without a restart, and waits until every view and index item
that it changes is rebuilt. A configuration with mistakes is refused as a whole, and the running one stays. Before a
tenant, environment, source group, source, schema or index goes that has data, it says what goes with it and asks.

  --no-wait   only make it the active one
  --yes       do not ask; needed where there is no terminal to ask on
  --help      this text

Exit code 0: active, and rebuilt unless --no-wait; 1: refused, or the rebuild cannot go on.`;

const commandTimeoutMs = 30_000;

async function main(): Promise<number> {
  const asked = readArguments();
  if (asked.isHelp) {
    console.log(usage);
    return 0;
  }
  const settings = readSettings(environmentWithFile(process.env, process.cwd()));
  return await withStore(redisAddress(settings), settings, commandTimeoutMs, (store) =>
    apply(store, settings, asked),
  );
}

interface Arguments {
  readonly isHelp: boolean;
  readonly isWaiting: boolean;
  readonly isSure: boolean;
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: { 'no-wait': { type: 'boolean' }, yes: { type: 'boolean' }, help: { type: 'boolean' } },
    });
    return {
      isHelp: values.help === true,
      isWaiting: values['no-wait'] !== true,
      isSure: values.yes === true,
    };
  } catch (error) {
    throw new CommandStop(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

async function apply(
  store: Store,
  settings: FolderSettings,
  { isWaiting, isSure }: Arguments,
): Promise<number> {
  const { generation, isNew } = await applyFolder(store, settings, {
    onWarnings: (text) => console.log(`${text}\n`),
    consent: async (losses) => {
      console.log(lossesText(losses));
      await requireConsent(isSure, 'Make this configuration the active one?');
    },
  });
  console.log(
    isNew
      ? `The configuration is the active one now (generation ${generation}).`
      : `The configuration is as it was (generation ${generation}).`,
  );
  if (!isWaiting) {
    const obstacle = await obstacleOf(store);
    if (obstacle !== null) console.log(`What it changes is not rebuilt yet because ${obstacle}.`);
    return 0;
  }
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
