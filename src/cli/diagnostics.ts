/** `npm run diagnostics`: lists what is valid but probably not meant so (contract section 2). */
import { parseArgs } from 'node:util';
import { environmentWithFile } from '../config/environment.ts';
import { counted } from '../config/issue-text.ts';
import { readSettings } from '../config/settings.ts';
import type { Diagnostic } from '../contract/diagnostic.ts';
import type { Store } from '../store/store.ts';
import { diagnose, type LocatedDiagnostic } from '../verify/diagnose.ts';
import { activeConfiguration } from './active-configuration.ts';
import { CommandStop, runCommand } from './command-stop.ts';
import { withStore } from './open-store.ts';
import { PercentBar } from './percent-bar.ts';
import { redisAddress } from './redis-address.ts';

const usage = `Usage: npm run diagnostics [-- --json] [--tenant TENANT]

Lists what is valid but probably not meant so, each with the view id and the place in its schema: URLs and handles that
several views claim, partial aliases that name nothing, values that do not fit the type of their index field, lookups
that match more than they may give. Counts come at the end.

  --json            one JSON object a line, the counts as the last one
  --tenant TENANT   only this tenant
  --help            this text

Exit code 0, whatever is found.`;

const commandTimeoutMs = 60_000;

/** The table of kinds: how many of each are told at the end. */
const kindTexts: Readonly<Record<Diagnostic['kind'], readonly [singular: string, plural: string]>> = {
  urlClash: ['URL claimed by several views', 'URLs claimed by several views'],
  handleClash: ['handle claimed by several views', 'handles claimed by several views'],
  partialUnknown: ['partial alias that names nothing', 'partial aliases that name nothing'],
  valueDoesNotFit: ['value that does not fit its index field', 'values that do not fit their index fields'],
  limitReached: ['limit reached', 'limits reached'],
  lookupCut: ['lookup with more matches than it may give', 'lookups with more matches than they may give'],
};

interface Arguments {
  readonly isHelp: boolean;
  readonly isJson: boolean;
  readonly tenant: string | null;
}

async function main(): Promise<number> {
  const asked = readArguments();
  if (asked.isHelp) {
    console.log(usage);
    return 0;
  }
  const settings = readSettings(environmentWithFile(process.env, process.cwd()));
  await withStore(redisAddress(settings), settings.partitions, commandTimeoutMs, (store) =>
    list(store, asked),
  );
  return 0;
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: { json: { type: 'boolean' }, tenant: { type: 'string' }, help: { type: 'boolean' } },
    });
    return { isHelp: values.help === true, isJson: values.json === true, tenant: values.tenant ?? null };
  } catch (error) {
    throw new CommandStop(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

async function list(store: Store, { isJson, tenant }: Arguments): Promise<void> {
  const { configuration } = await activeConfiguration(store, tenant);
  const counts: Record<string, number> = {};
  const bar = new PercentBar();
  const entities = await diagnose({
    store,
    configuration,
    tenant,
    onProgress: (done, total) =>
      bar.show(Math.min(99, Math.floor((100 * done) / Math.max(1, total))), `${done} entities looked at`),
    onDiagnostic: (diagnostic) => {
      counts[diagnostic.kind] = (counts[diagnostic.kind] ?? 0) + 1;
      bar.say(isJson ? JSON.stringify(diagnostic) : line(diagnostic), process.stdout);
    },
  }).finally(() => bar.stop());
  console.log(isJson ? JSON.stringify({ entities, counts }) : summary(entities, counts));
}

function line({ subject, place, message }: LocatedDiagnostic): string {
  return `${subject}: ${place}: ${message}`;
}

function summary(entities: number, counts: Readonly<Record<string, number>>): string {
  const told = Object.entries(kindTexts).flatMap(([kind, [singular, plural]]) => {
    const count = counts[kind] ?? 0;
    return count === 0 ? [] : [counted(count, singular, plural)];
  });
  const looked = `Looked at ${counted(entities, 'entity', 'entities')}`;
  return told.length === 0 ? `${looked}: nothing found.` : `${looked}: ${told.join(', ')}.`;
}

await runCommand(main);
