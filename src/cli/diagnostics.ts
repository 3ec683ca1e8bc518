/** `npm run diagnostics`: lists what is valid but probably a mistake (docs/guide/operating.md "Diagnostics"). */

import type { Diagnostic } from '../contract/diagnostic.ts';
import { counted } from '../lib/message-text.ts';
import type { Store } from '../store/store.ts';
import { diagnose } from '../verify/diagnostics/diagnose.ts';
import {
  DiagnosticGroups,
  type LocatedDiagnostic,
  shownDiagnostic,
} from '../verify/diagnostics/located-diagnostic.ts';
import { NullPaths } from '../verify/diagnostics/type-counts.ts';
import { activeConfiguration, withCommandStore } from './platform/open-store.ts';
import { readArguments, runCommand } from './terminal/command-line.ts';
import { percentOf, withBar } from './terminal/percent-bar.ts';

/** Names of the kinds in the summary. */
const kindTexts: Readonly<Record<Diagnostic['kind'], readonly [singular: string, plural: string]>> = {
  urlClash: ['URL claimed by several views', 'URLs claimed by several views'],
  handleClash: ['handle claimed by several views', 'handles claimed by several views'],
  partialUnknown: ['unknown partial alias', 'unknown partial aliases'],
  valueDoesNotFit: ['value that does not fit its type', 'values that do not fit their types'],
  limitReached: ['limit reached', 'limits reached'],
  urlMissing: ['view without the URL of its schema', 'views without the URL of their schema'],
  schemaUnknown: ['reference to an unknown schema', 'references to unknown schemas'],
  viewMissing: ['reference to a missing view', 'references to missing views'],
  typeUnused: ['entity of a type without a schema', 'entities of types without a schema'],
  schemaUnused: ['schema or index without an entity', 'schemas and indexes without an entity'],
  alwaysNull: ['path that is always null', 'paths that are always null'],
  schemaFailed: ['view or item whose schema fails', 'views and items whose schemas fail'],
  lookupCut: ['lookup with more matches than the limit', 'lookups with more matches than the limit'],
};

/** Kinds that count schemas and paths, not entities. */
const countedByPlace: ReadonlySet<Diagnostic['kind']> = new Set(['schemaUnused', 'alwaysNull']);

interface Arguments {
  readonly isJson: boolean;
  readonly tenant: string | null;
}

async function main(): Promise<number> {
  const { values } = readArguments('diagnostics');
  const asked: Arguments = { isJson: values.json === true, tenant: values.tenant ?? null };
  await withCommandStore((store) => list(store, asked));
  return 0;
}

async function list(store: Store, { isJson, tenant }: Arguments): Promise<void> {
  const nullPaths = new NullPaths();
  const { configuration } = await activeConfiguration(store, tenant, nullPaths.observe);
  const groups = new DiagnosticGroups();
  const entities = await withBar('Stopped before all entities were checked.', (bar, signal) =>
    diagnose({
      store,
      configuration,
      tenant,
      nullPaths,
      onProgress: (done, total) => {
        signal.throwIfAborted();
        bar.show(percentOf(done, total), `${counted(done, 'entity', 'entities')} checked`);
      },
      onDiagnostic: (diagnostic) => groups.add(diagnostic),
    }),
  );
  if (isJson) console.log(JSON.stringify(groups.all.map(shownDiagnostic), null, 2));
  else console.log([...groups.all.map(line), summary(entities, groups.all)].join('\n'));
}

function line(diagnostic: LocatedDiagnostic): string {
  const { tenant, schema, place, entityId, viewId, message, example, count } = diagnostic;
  const where = [`tenant ${tenant}`, schema === undefined ? '' : `schema ${schema}`, place ?? ''];
  const about = viewId ?? entityId;
  const text = [
    where.filter((part) => part !== '').join(', '),
    example === undefined ? message : `${message}, for example ${example}`,
  ].join(': ');
  if (about === undefined) return text;
  return count > 1 ? `${text} (${count} times, one of them ${about})` : `${text} (${about})`;
}

function summary(entities: number, diagnostics: readonly LocatedDiagnostic[]): string {
  const parts = Object.entries(kindTexts).flatMap(([kind, [singular, plural]]) => {
    const ofKind = diagnostics.filter((diagnostic) => diagnostic.kind === kind);
    const count = ofKind.reduce((sum, one) => sum + (countedByPlace.has(one.kind) ? 1 : one.count), 0);
    return count === 0 ? [] : [counted(count, singular, plural)];
  });
  const checked = `Checked ${counted(entities, 'entity', 'entities')}`;
  return parts.length === 0 ? `${checked}: nothing found.` : `${checked}: ${parts.join(', ')}.`;
}

await runCommand(main);
