import type { Settings } from '../../config/settings/settings.ts';
import { counted } from '../../lib/message-text.ts';
import type { StartKind } from '../bootstrap/memory-fit.mjs';
import { demoKeys } from './demo.ts';

/**
 * The text that is printed when everything runs: the address, the demo keys, three example calls, the processes.
 * @param consoleKey a management key to show; null to refer to tenant.json
 */
export function welcomeText(
  baseUrl: string,
  settings: Settings,
  kind: StartKind,
  consoleKey: string | null = settings.demo ? demoKeys.management : null,
): string {
  const redis = settings.redis.kind === 'private' ? `, redis × 1 (its files are in ${settings.dataDir})` : '';
  return [
    '',
    `Millrace is ready at ${baseUrl}`,
    ...(settings.console ? [consoleLine(baseUrl, consoleKey)] : []),
    ...(settings.demo ? ['', ...demoLines(baseUrl)] : []),
    '',
    ...processLines(kind, settings, redis),
    'Ctrl-C stops all of them.',
    '',
  ].join('\n');
}

function processLines(kind: StartKind, { web, workers, partitions }: Settings, redis: string): string[] {
  if (kind === 'small')
    return [`Processes: small × 1 (HTTP, ${counted(partitions, 'partition')}, rebuilds)${redis}`];
  return [
    `Processes: web × ${web} (HTTP), worker × ${workers} (views and indexes of ${counted(partitions, 'partition')}),`,
    `jobs × 1 (rebuilds)${redis}`,
  ];
}

function consoleLine(baseUrl: string, key: string | null): string {
  return `Console: ${baseUrl}/console (its key: ${key ?? 'one of managementClients in tenant.json'})`;
}

function demoLines(baseUrl: string): string[] {
  const { environment, source } = demoKeys;
  const key = `-H 'X-Api-Key: ${environment}'`;
  const query =
    '{"search":{"field":"name","value":"Amsterdm"},"facets":[{"field":"country"}],"aliases":["city"],"pagination":{"pageSize":3}}';
  return [
    `Demo keys: ${source} (ingest), ${environment} (delivery, routes, changes, query). Try:`,
    '',
    `  curl '${baseUrl}/v2?url=/europe/france' ${key}`,
    `  curl '${baseUrl}/routes/v2' ${key}`,
    `  curl '${baseUrl}/v1/cities' ${key} -d '${query}'`,
  ];
}
