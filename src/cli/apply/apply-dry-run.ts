/** `npm run apply -- --dry-run`: has the jobs process tell what the configuration would change, and waits for it. */
import { hashKeys } from '../../config/documents/canonical.ts';
import { beginDryRun } from '../../jobs/dry-run/begin.ts';
import { dryRunJobs, dryRunState } from '../../jobs/dry-run/queue.ts';
import { assert } from '../../lib/assert.ts';
import { readActiveDigest } from '../../store/configuration/published-configuration.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigurationDiff } from '../../trial/dry-run/diff.ts';
import { type FolderSettings, readSoundConfiguration } from '../configuration/publish-configuration.ts';
import { waitForJobs } from '../platform/job-wait.ts';
import { CommandStop } from '../terminal/command-stop.ts';
import { percentOf, withBar } from '../terminal/percent-bar.ts';

/** @throws CommandStop when the folder has mistakes, or there is no answer; StoreUnavailableError */
export async function dryRunOf(store: Store, { configDir }: FolderSettings): Promise<ConfigurationDiff> {
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
  const queue = dryRunJobs(store);
  let diff: ConfigurationDiff | null = null;
  try {
    await withBar('Stopped: nothing was changed.', (bar, signal) =>
      waitForJobs(store, 'dry run', bar, signal, async () => {
        const state = await dryRunState(queue, token, null);
        if (state === null) throw new CommandStop('The dry run is no longer known. Start it again.');
        if (state.failure !== null)
          throw new CommandStop(`The dry run failed: ${state.failure}. Nothing was changed; start it again.`);
        const { done, total } = state;
        bar.show(percentOf(done, total), `${done.toLocaleString('en-US')} entities checked`);
        diff = state.diff;
        return diff !== null;
      }),
    );
  } finally {
    await queue.close();
  }
  assert(diff !== null, 'a dry run that is done has a diff');
  return diff;
}
