/** `millrace dev`: runs everything and watches the configuration folder (docs/guide/first-site.md). */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepCompiler } from '../config/code/compile-code.ts';
import { lossesText } from '../jobs/removal-plan.ts';
import { counted } from '../lib/message-text.ts';
import { importFile } from './import/import-file.ts';
import { firstManagementKey, firstSourceKey, isStoreEmpty } from './site/first-import.ts';
import { followFindings } from './site/follow-findings.ts';
import { applyAgain, type RunningPlatform, runPlatform } from './start/platform.ts';
import { waitUntilSettled } from './start/wait-until-settled.ts';
import { welcomeText } from './start/welcome.ts';
import { runCommand } from './terminal/command-line.ts';

const dataFile = 'data.ndjson';
const importConcurrency = 4;

async function develop(platform: RunningPlatform): Promise<void> {
  const { settings, address, url, trust, say, signal } = platform;
  let changes = 0;
  void watchFolder(settings.configDir, signal, async () => {
    changes += 1;
    await applyAgain(settings, address, { consent: (losses) => say(lossesText(losses)) }, say);
  });
  await importOnce(platform);
  signal.throwIfAborted();
  const consoleKey = await firstManagementKey(settings.configDir);
  console.log(welcomeText(url, { ...settings, demo: false }, 'full', consoleKey));
  say(`watching ${settings.configDir}`);
  const settled = () =>
    waitUntilSettled({ baseUrl: url, trust, metricsKey: settings.metricsKey, signal }, () => {});
  void followFindings({ address, settings, signal, say, changes: () => changes, settled });
}

/** Imports `data.ndjson`, next to the configuration folder, into an empty store. */
async function importOnce({ settings, address, url, trust, signal, say }: RunningPlatform): Promise<void> {
  const file = path.join(path.dirname(settings.configDir), dataFile);
  if (!existsSync(file) || !(await isStoreEmpty(address, settings))) return;
  const sourceKey = await firstSourceKey(settings.configDir);
  if (sourceKey === null) {
    say(`${dataFile} is not imported, because tenant.json has no source with a key in plain text.`);
    return;
  }
  say(`importing ${dataFile}`);
  await importFile({ file, sourceKey, baseUrl: url, trust, concurrency: importConcurrency }, signal);
  const { metricsKey } = settings;
  await waitUntilSettled({ baseUrl: url, trust, metricsKey, signal }, (waiting) =>
    say(`building pages: ${counted(waiting, 'change')} left`),
  );
}

keepCompiler();
await runCommand(() => runPlatform(develop, 'full'));

const pollMs = 300;

/**
 * Polls the files of a folder, and calls `onChange` after changes, one call at a time. It compares times and sizes, because
 * change events get lost on shared folders, and when an editor replaces a file.
 * @param signal ends it
 */
async function watchFolder(
  folder: string,
  signal: AbortSignal,
  onChange: () => Promise<void>,
): Promise<void> {
  let known = await stampsOf(folder);
  while (!signal.aborted) {
    await sleep(pollMs, undefined, { signal }).catch(() => {});
    const now = await stampsOf(folder);
    if (now === known || signal.aborted) continue;
    known = now;
    await onChange();
  }
}

/** A string that changes when a file is added, removed or written. */
async function stampsOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const stamps = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const file = path.join(parentPath, name);
        // The file may have been removed meanwhile.
        const found = await stat(file).catch(() => null);
        return `${file} ${found?.mtimeMs} ${found?.size} ${found?.ino}`;
      }),
  );
  return stamps.sort().join('\n');
}
