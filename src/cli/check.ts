/**
 * `npm run check`: validates the configuration. It prints every error with its file, its path and how to fix it.
 */
import { resolve } from 'node:path';
import type { Configuration, Tenant } from '../config/configuration.ts';
import { tenantFilePath } from '../config/document-path.ts';
import { issueText, warningsText } from '../config/documents/issue-text.ts';
import { readConfiguration } from '../config/documents/read-documents.ts';
import { commandSettings } from '../config/settings/settings.ts';
import type { ConfigIssue } from '../contract/diagnostic.ts';
import { counted } from '../lib/message-text.ts';
import { itemPath } from '../lib/text-position.ts';
import { AddressGuard } from '../webhooks/allowed-addresses.ts';
import { handleArguments } from './help.mjs';
import { readArguments, runCommand } from './terminal/command-line.ts';

await runCommand(check);

async function check(): Promise<number> {
  const answered = handleArguments('check', process.argv.slice(2));
  if (answered !== null) return answered;
  const { values } = readArguments('check');
  const chosen = values['config-dir'];
  const settings = commandSettings();
  const configDir = chosen === undefined ? settings.configDir : resolve(chosen);
  return await checkFolder(configDir, values.strict === true, new AddressGuard(settings.webhookAllow));
}

async function checkFolder(configDir: string, isStrict: boolean, guard: AddressGuard): Promise<number> {
  const outcome = await readConfiguration(configDir);
  if (!outcome.ok) {
    const { issues, warnings } = outcome;
    const alsoFound = warnings.length === 0 ? '' : `${warningsText(warnings)}\n\n`;
    const counts = [counted(issues.length, 'error'), counted(warnings.length, 'warning')];
    console.error(
      `${issueText(issues)}\n\n${alsoFound}${counts.slice(0, warnings.length === 0 ? 1 : 2).join(' and ')} in ${configDir}`,
    );
    return 1;
  }
  const { configuration, keyCount } = outcome;
  const warnings = [...outcome.warnings, ...refusedReceivers(configuration, guard)];
  if (warnings.length > 0) console.log(`${warningsText(warnings)}\n`);
  if (isStrict && warnings.length > 0) {
    console.error(`${counted(warnings.length, 'warning')} in ${configDir}; --strict allows none`);
    return 1;
  }
  console.log(`${configDir} is valid: ${summary(configuration, keyCount, warnings.length)}`);
  return 0;
}

function refusedReceivers({ tenants }: Configuration, guard: AddressGuard): ConfigIssue[] {
  return [...tenants.values()].flatMap(({ alias, webhooks }) =>
    webhooks.flatMap(({ url }, at) =>
      guard.isPlainlyRefused(url)
        ? {
            file: tenantFilePath(alias),
            path: `${itemPath('$.webhooks', at)}.url`,
            message: 'the address is not public, so no request is ever sent there',
            advice: 'Add its host or network to the setting WEBHOOK_ALLOW of jobs processes and fronts.',
          }
        : [],
    ),
  );
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
