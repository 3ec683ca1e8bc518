/** `millrace dev`: runs everything and watches the configuration folder (docs/guide/first-site.md). */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { keepCompiler } from '../config/code/compile-code.ts';
import { lossesText } from '../jobs/removal-plan.ts';
import { counted } from '../lib/message-text.ts';
import { importFile } from './import/import-file.ts';
import { firstManagementKey, firstSourceKey, isStoreEmpty } from './site/first-import.ts';
import { followFindings } from './site/follow-findings.ts';
import { watchFolder } from './site/watch-folder.ts';
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
