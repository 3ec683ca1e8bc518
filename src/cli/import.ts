/** `npm run import -- FILE --key SOURCE_KEY [--url BASE] [--concurrency N]` (docs/guide/importing.md). */
import { commandSettings, type Settings } from '../config/settings/settings.ts';
import { importFile, readImportArguments } from './import/import-file.ts';
import { importAndPrune } from './import/prune.ts';
import { baseUrl, ownTrust, type Trust } from './platform/own-front.ts';
import { interruptedCode, runCommand, stopSignals } from './terminal/command-line.ts';

/** @returns exit code 0 if every line was imported; 1 if some failed or the import ended early; 130 after Ctrl-C */
async function main(): Promise<number> {
  const settings = commandSettings();
  const { prune, ...asked } = readImportArguments(process.argv.slice(2), baseUrl(settings));
  const { signal } = stopSignals(() => process.exit(interruptedCode), new Error('stopped'));
  const options = { ...asked, trust: trustFor(asked.baseUrl, settings) };
  try {
    const { failed, stoppedBy } = await (prune === undefined
      ? importFile(options, signal)
      : importAndPrune(options, prune, signal));
    if (signal.aborted) return interruptedCode;
    return failed > 0 || stoppedBy !== null ? 1 : 0;
  } catch (error) {
    if (signal.aborted) return interruptedCode;
    throw error;
  }
}

/**
 * How to verify the platform's certificate. The one of an `npm start` with the same settings is trusted; any other needs a
 * certificate authority.
 */
function trustFor(url: string, settings: Settings): Trust {
  return url === baseUrl(settings) ? ownTrust(settings) : {};
}

await runCommand(main);
