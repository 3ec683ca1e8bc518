/** `npm run check`: validates the configuration and prints every mistake with file, place and what to do about it. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { environmentWithFile } from '../config/environment.ts';
import { counted, issueText, warningsText } from '../config/issue-text.ts';
import { readConfiguration } from '../config/read.ts';
import { readSettings, SettingsError } from '../config/settings.ts';
import type { Configuration, Tenant } from '../config/types.ts';

const usage = `Usage: npm run check [-- --config-dir FOLDER] [--strict]

Validates the configuration and prints every mistake with its file, its place and what to do about it.

  --config-dir FOLDER   the configuration to check (default: CONFIG_DIR, else config)
  --strict              warnings fail it too
  --help                this text

Exit code 0: sound; 1: mistakes, in the configuration or the settings; with --strict also warnings; 2: wrong arguments.`;

process.exitCode = await check(process.argv.slice(2));

async function check(args: string[]): Promise<number> {
  const chosen = readArguments(args);
  if (typeof chosen === 'number') return chosen;
  try {
    const settings = readSettings(environmentWithFile(process.env, process.cwd()));
    const configDir = chosen.configDir === null ? settings.configDir : resolve(chosen.configDir);
    return await checkFolder(configDir, chosen.isStrict);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(error.message);
    return 1;
  }
}

interface Arguments {
  readonly configDir: string | null;
  readonly isStrict: boolean;
}

/** The arguments, or the exit code with which to end at once. */
function readArguments(args: string[]): Arguments | number {
  try {
    const { values } = parseArgs({
      args,
      options: { 'config-dir': { type: 'string' }, strict: { type: 'boolean' }, help: { type: 'boolean' } },
    });
    if (values.help !== true) {
      return { configDir: values['config-dir'] ?? null, isStrict: values.strict === true };
    }
    console.log(usage);
    return 0;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
}

async function checkFolder(configDir: string, isStrict: boolean): Promise<number> {
  const outcome = await readConfiguration(configDir);
  if (!outcome.ok) {
    console.error(
      `${issueText(outcome.issues)}\n\n${counted(outcome.issues.length, 'mistake')} in ${configDir}`,
    );
    return 1;
  }
  const { warnings, configuration, keyCount } = outcome;
  if (warnings.length > 0) console.log(`${warningsText(warnings)}\n`);
  if (isStrict && warnings.length > 0) {
    console.error(`${counted(warnings.length, 'warning')} in ${configDir}, which --strict does not take`);
    return 1;
  }
  console.log(`${configDir} is sound: ${summary(configuration, keyCount, warnings.length)}`);
  return 0;
}

function summary({ tenants }: Configuration, keyCount: number, warningCount: number): string {
  const sum = (size: (tenant: Tenant) => number) =>
    [...tenants.values()].reduce((n, tenant) => n + size(tenant), 0);
  return [
    counted(tenants.size, 'tenant'),
    counted(
      sum((tenant) => tenant.schemas.size),
      'schema',
    ),
    counted(
      sum((tenant) => tenant.partials.size),
      'partial',
    ),
    counted(
      sum((tenant) => tenant.indexes.size),
      'index',
      'indexes',
    ),
    counted(keyCount, 'API key'),
    counted(warningCount, 'warning'),
  ].join(', ');
}
