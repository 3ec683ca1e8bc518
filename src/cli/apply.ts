/**
 * `npm run apply`: activates the configuration in CONFIG_DIR without a restart (docs/guide/live-configuration.md), and waits
 * until all changes are rebuilt. An invalid configuration changes nothing.
 */

import { hashKeys } from '../config/documents/canonical.ts';
import { beginDryRun, dryRunJobs, dryRunState } from '../jobs/dry-run/queue.ts';
import { rebuildJobs } from '../jobs/rebuild-job-queue.ts';
import { lossesText } from '../jobs/removal-plan.ts';
import { assert } from '../lib/assert.ts';
import { closing } from '../lib/closing.ts';
import { counted } from '../lib/message-text.ts';
import { asTyped } from '../lib/typed-command.mjs';
import { readActiveDigest } from '../store/configuration/published-configuration.ts';
import type { Store } from '../store/store.ts';
import type { ConfigurationDiff } from '../trial/dry-run/diff.ts';
import { diffText } from './apply/diff-text.ts';
import {
  applyFolder,
  type FolderSettings,
  readSoundConfiguration,
} from './configuration/publish-configuration.ts';
import { obstacleOf, waitForJobs, waitForProcesses, waitForRebuild } from './platform/job-wait.ts';
import { withCommandStore } from './platform/open-store.ts';
import {
  CommandStop,
  interruptible,
  readArguments,
  requireConsent,
  runCommand,
} from './terminal/command-line.ts';
import { percentOf, withBar } from './terminal/percent-bar.ts';

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

const continuesText = 'The rebuild continues without this command. To follow it: npm run apply';

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
  const running = await interruptible(continuesText, (signal) => waitForProcesses(store, generation, signal));
  if (running === 0) {
    console.log('No process is running. The next ones to start will use it.');
    return 0;
  }
  console.log(running === 1 ? 'The running process uses it.' : `All ${running} processes use it.`);
  await closing(rebuildJobs(store), (queue) =>
    withBar(continuesText, (bar, signal) => waitForRebuild(store, queue, generation, bar, signal)),
  );
  console.log('All changes are rebuilt.');
  return 0;
}

await runCommand(main);

/**
 * `npm run apply -- --dry-run`: a jobs process computes what the configuration would change.
 * @throws CommandStop if the folder is invalid or the dry run fails; StoreUnavailableError
 */
async function dryRunOf(store: Store, { configDir }: FolderSettings): Promise<ConfigurationDiff> {
  const active = await readActiveDigest(store);
  if (active === null) {
    throw new CommandStop('This store has no active configuration yet, so there is nothing to compare with.');
  }
  const { documents } = await readSoundConfiguration(configDir);
  const compared = { tenant: null, generation: active.generation };
  const token = await beginDryRun(store, hashKeys(documents), compared);
  return await waitForDryRun(store, token);
}

async function waitForDryRun(store: Store, token: string): Promise<ConfigurationDiff> {
  let diff: ConfigurationDiff | null = null;
  await closing(dryRunJobs(store), (queue) =>
    withBar('Stopped: nothing was changed.', (bar, signal) =>
      waitForJobs(store, 'dry run', bar, signal, async () => {
        const state = await dryRunState(queue, token, null);
        if (state === null) throw new CommandStop('The dry run is no longer known. Start it again.');
        if (state.failure !== null)
          throw new CommandStop(`The dry run failed: ${state.failure}. Nothing was changed; start it again.`);
        const { done, total } = state;
        bar.show(percentOf(done, total), `${counted(done, 'entity', 'entities')} checked`);
        diff = state.diff;
        return diff !== null;
      }),
    ),
  );
  assert(diff !== null, 'a dry run that is done has a diff');
  return diff;
}
