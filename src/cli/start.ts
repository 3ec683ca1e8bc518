/**
 * `npm start`: runs everything in one terminal (README.md "Run it"), and loads the demo tenant at the first start. The exit
 * code is 0 after Ctrl-C or SIGTERM, 130 after a second Ctrl-C, 1 if the start failed.
 */
import { parseArgs } from 'node:util';
import { commands } from './commands.mjs';
import { loadDemo } from './start/demo.ts';
import { type RunningPlatform, runPlatform } from './start/platform.ts';
import { welcomeText } from './start/welcome.ts';
import { runCommand } from './terminal/command-line.ts';

async function welcome({ settings, url, trust, signal, say, runsFolder }: RunningPlatform): Promise<void> {
  // The keys of the demo only work if its configuration is active.
  const demo = settings.demo && runsFolder;
  const { dataDir, metricsKey } = settings;
  if (demo) await loadDemo({ baseUrl: url, trust, dataDir, metricsKey, signal, say });
  signal.throwIfAborted();
  console.log(welcomeText(url, { ...settings, demo }, kind));
}

const { values } = parseArgs({ options: commands.start.options });
const kind = values.small === true ? 'small' : 'full';

await runCommand(() => runPlatform(welcome, kind));
