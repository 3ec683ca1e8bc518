/**
 * `npm run apply`: makes the configuration in CONFIG_DIR the active one without a restart
 * (docs/guide/live-configuration.md). It waits until everything that the configuration changes is rebuilt. A
 * configuration with mistakes changes nothing.
 */
import { rebuildJobs } from '../jobs/rebuild-job-queue.ts';
import { lossesText } from '../jobs/removal-plan.ts';
import { asTyped } from '../lib/typed-command.mjs';
import type { Store } from '../store/store.ts';
import { dryRunOf } from './apply/apply-dry-run.ts';
import { diffText } from './apply/diff-text.ts';
import { applyFolder, type FolderSettings } from './configuration/publish-configuration.ts';
import { withCommandStore } from './platform/command-store.ts';
import { obstacleOf, waitForProcesses, waitForRebuild } from './platform/job-wait.ts';
import { readArguments } from './terminal/arguments.ts';
import { CommandStop, runCommand } from './terminal/command-stop.ts';
import { requireConsent } from './terminal/consent.ts';
import { interruptible } from './terminal/interruptible.ts';
import { withBar } from './terminal/percent-bar.ts';

async function main(): Promise<number> {
  const { values } = readArguments('apply');
  if (values.json === true && values['dry-run'] !== true) {
    throw new CommandStop('--json needs --dry-run.');
  }
  if (values['dry-run'] === true) {
    const diff = await withCommandStore(dryRunOf);
    console.log(values.json === true ? JSON.stringify(diff, null, 2) : diffText(diff));
    return 0;
  }
  return await withCommandStore((store, settings) =>
    apply(store, settings, { isWaiting: values['no-wait'] !== true, isSure: values.yes === true }),
  );
}

const goesOn = 'The rebuild continues without this command. To follow it: npm run apply';

interface Arguments {
  readonly isWaiting: boolean;
  readonly isSure: boolean;
}

async function apply(
  store: Store,
  settings: FolderSettings,
  { isWaiting, isSure }: Arguments,
): Promise<number> {
  const { generation, isNew } = await applyFolder(store, settings, {
    onWarnings: (text) => console.log(`${text}\n`),
    consent: async (losses) => {
      console.log(asTyped(lossesText(losses)));
      await requireConsent(isSure, 'Activate this configuration?');
    },
  });
  console.log(
    isNew
      ? `The configuration is now active (generation ${generation}).`
      : `The configuration is unchanged (generation ${generation}).`,
  );
  if (!isWaiting) {
    const obstacle = await obstacleOf(store);
    if (obstacle !== null) console.log(asTyped(`The changes are not rebuilt yet because ${obstacle}.`));
    return 0;
  }
  const running = await interruptible(goesOn, (signal) => waitForProcesses(store, generation, signal));
  if (running === 0) {
    console.log('No process is running. The next ones to start will use it.');
    return 0;
  }
  console.log(`All ${running} processes use it.`);
  const queue = rebuildJobs(store);
  try {
    await withBar(goesOn, (bar, signal) => waitForRebuild(store, queue, generation, bar, signal));
  } finally {
    await queue.close();
  }
  console.log('All changes are rebuilt.');
  return 0;
}

await runCommand(main);
