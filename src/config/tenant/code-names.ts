/** Source groups and aliases that schemas in JavaScript name as plain text, as `named-things.ts` checks those of JSON. */
import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import { quote } from '../../lib/quote.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';
import type { KnownNames } from './named-things.ts';

/** An unknown source group is a mistake. An unknown schema or partial is a warning: data is delivered without it. */
export function checkCodeNames(program: CodeProgram, known: KnownNames, findings: Findings): void {
  const written = new Set<string>();
  for (const { kind, name, file, line, column } of program.names) {
    const at = new Cursor(file, line === 0 ? '$' : `${line}:${column}`, undefined, findings);
    written.add(name);
    if (kind === 'source group') checkGroup(at, name, known);
    if (kind === 'schema') warn(at, kind, name, known.aliases.schemas);
    if (kind === 'partial') warn(at, kind, name, known.aliases.partials);
    if (kind === 'webhook') warn(at, kind, name, known.webhooks);
  }
  // What `triggers` named without writing it out has no place of its own.
  for (const [group] of program.triggers) {
    if (!written.has(group)) checkGroup(new Cursor(program.file, '$', undefined, findings), group, known);
  }
}

function checkGroup(at: Cursor, group: string, { sourceGroups }: KnownNames): void {
  if (sourceGroups.has(group)) return;
  at.issue(`unknown source group ${quote(group)}`, () => adviceForUnknown(group, sourceGroups));
}

function warn(at: Cursor, kind: string, name: string, names: ReadonlySet<string>): void {
  if (!names.has(name)) at.warning(`there is no ${kind} ${quote(name)}`, () => adviceForUnknown(name, names));
}
