/** `npm run verify`: recomputes everything from the source entities, and compares it with the stored data. */

import { rebuildJobs } from '../jobs/rebuild-job-queue.ts';
import { closing } from '../lib/closing.ts';
import { counted } from '../lib/message-text.ts';
import { asTyped } from '../lib/typed-command.mjs';
import { readGenerations } from '../store/configuration/published-configuration.ts';
import { StandstillError } from '../store/partitions/partition-state.ts';
import type { Store } from '../store/store.ts';
import { type VerifyProgress, type VerifyResult, verify } from '../verify/verification.ts';
import { runningProcesses, waitForRebuild } from './platform/job-wait.ts';
import { activeConfiguration, withCommandStore } from './platform/open-store.ts';
import { CommandStop, readArguments, runCommand } from './terminal/command-line.ts';
import { type PercentBar, percentOf, withBar } from './terminal/percent-bar.ts';

const stopped = 'Stopped before everything was compared.';

interface Arguments {
  readonly isRepair: boolean;
  readonly tenant: string | null;
}

async function main(): Promise<number> {
  const { values } = readArguments('verify');
  const asked: Arguments = { isRepair: values.repair === true, tenant: values.tenant ?? null };
  return await withCommandStore((store) => verifyStore(store, asked));
}

async function verifyStore(store: Store, { isRepair, tenant }: Arguments): Promise<number> {
  const { configuration, generation } = await activeConfiguration(store, tenant);
  try {
    const result = await withBar(stopped, async (bar, signal) => {
      await waitForRunningRebuild(store, generation, bar, signal);
      return await verify({
        store,
        configuration,
        tenant,
        isRepair,
        onProgress: (progress) => {
          signal.throwIfAborted();
          bar.show(...shown(progress));
        },
        onDifference: ({ subject, message }) => bar.say(`${subject}: ${message}`, process.stdout),
      });
    });
    if ((await readGenerations(store)).active !== generation) {
      throw new CommandStop(
        'The configuration changed meanwhile, so this result is not valid. Run it again.',
      );
    }
    console.log(summary(result, isRepair));
    return result.differences > result.repaired ? 1 : 0;
  } catch (error) {
    if (error instanceof StandstillError) throw new CommandStop(`Cannot continue: ${error.message}`);
    throw error;
  }
}

/** Waits for a running rebuild: views that it has not reached yet would be reported as differences. */
async function waitForRunningRebuild(
  store: Store,
  generation: number,
  bar: PercentBar,
  signal: AbortSignal,
): Promise<void> {
  const processes = await runningProcesses(store);
  if (!processes.some(({ role }) => role === 'jobs')) return;
  await closing(rebuildJobs(store), (queue) => waitForRebuild(store, queue, generation, bar, signal));
}

const phaseTexts = {
  comparing: 'compared',
  orphans: 'compared, looking for outputs without an entity',
  settling: 'compared, checking differences again',
  repairing: 'compared, repairing',
} as const;

function shown({ phase, done, total }: VerifyProgress): [number, string] {
  return [percentOf(done, total), `${counted(done, 'entity', 'entities')} ${phaseTexts[phase]}`];
}

function summary(result: VerifyResult, isRepair: boolean): string {
  const lines = [
    `Compared ${counted(result.entities, 'entity', 'entities')}: ${counted(result.views, 'view')}, ` +
      `${counted(result.items, 'index item')}, ${counted(result.claims, 'URL and handle', 'URLs and handles')}.`,
    ...result.notes.map((note) => `Note: ${note}.`),
  ];
  if (result.unsettled > 0) {
    lines.push(
      `${counted(result.unsettled, 'entity', 'entities')} changed during every check and could not be compared.`,
    );
  }
  if (result.differences === 0) lines.push('No differences.');
  else if (isRepair) {
    const left = result.differences - result.repaired;
    lines.push(
      `${counted(result.differences, 'difference')}, ${result.repaired} repaired, ${left === 0 ? 'none' : left} left.`,
    );
  } else
    lines.push(`${counted(result.differences, 'difference')}. To repair, run: npm run verify -- --repair`);
  return asTyped(lines.join('\n'));
}

await runCommand(main);
