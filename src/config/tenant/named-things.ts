/**
 * Checks the source groups and aliases that JSON and JavaScript schemas refer to by constant names. `src/schemas` compiles
 * files without knowing the tenant's groups, so the names are checked here, also in files with other errors.
 */

import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { quote } from '../../lib/message-text.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';
import type { SchemaFolder } from '../document-path.ts';

/** All names that schema files of a tenant can refer to. */
export interface KnownNames {
  readonly sourceGroups: ReadonlySet<string>;
  /** Aliases of webhooks. */
  readonly webhooks: ReadonlySet<string>;
  readonly aliases: Readonly<Record<SchemaFolder, ReadonlySet<string>>>;
}

/**
 * Checks the names in one schema file: an unknown source group is an error. An unknown schema or partial is a warning, because
 * views are delivered without it (docs/guide/operating.md "Diagnostics": null and a diagnostic).
 */
export function checkNames(root: Cursor, known: KnownNames): void {
  checkTriggers(root.member('triggers'), known);
  checkDefinitions(root.member('properties'), known);
  checkDestinations(root.member('destinations'), known);
  const actions = root.member('actions');
  if (!Array.isArray(actions.json)) return;
  for (const action of actions.items()) {
    checkGroup(action.member('source'), known);
    checkAlias(action.member('alias'), 'schema', known.aliases.schemas);
  }
}

function checkDestinations(list: Cursor, known: KnownNames): void {
  if (!Array.isArray(list.json)) return;
  for (const destination of list.items()) {
    const at = destination.member('alias');
    const alias = at.json;
    if (typeof alias === 'string' && alias !== '') checkName(at, 'webhook', alias, known.webhooks);
  }
}

function checkTriggers(triggers: Cursor, known: KnownNames): void {
  if (!isJsonObject(triggers.json)) return;
  for (const group of Object.keys(triggers.json)) checkGroupName(triggers.member(group), group, known);
}

function checkDefinitions(properties: Cursor, known: KnownNames): void {
  if (!isJsonObject(properties.json)) return;
  for (const name of Object.keys(properties.json)) checkDefinition(properties.member(name), known);
}

/** Follows the grammar, so that a property named `source` is not mistaken for a group. */
function checkDefinition(definition: Cursor, known: KnownNames): void {
  if (!isJsonObject(definition.json)) return;
  checkGroup(definition.member('input').member('$lookup').member('source'), known);
  const type = getOwn(definition.json, 'type');
  if (type === 'array') checkDefinition(definition.member('items'), known);
  if (type === 'object') checkDefinitions(definition.member('properties'), known);
  if (type === 'reference') {
    checkGroup(definition.member('source'), known);
    checkAlias(definition.member('alias'), 'schema', known.aliases.schemas);
    checkAlias(definition.member('view'), 'schema', known.aliases.schemas);
  }
  if (type === 'partial') checkAlias(definition.member('alias'), 'partial', known.aliases.partials);
}

function checkGroup(written: Cursor, known: KnownNames): void {
  const at = expressionAt(written);
  const group = at.json;
  if (isPlainText(group)) checkGroupName(at, group, known);
}

function checkAlias(written: Cursor, kind: string, aliases: ReadonlySet<string>): void {
  const at = expressionAt(written);
  const alias = at.json;
  if (isPlainText(alias)) checkName(at, kind, alias, aliases);
}

/** Unwraps `{"$exp": text}`. */
function expressionAt(at: Cursor): Cursor {
  return isJsonObject(at.json) ? at.member('$exp') : at;
}

/** True for a string without holes, which is the same for every entity. */
function isPlainText(json: Json | undefined): json is string {
  return typeof json === 'string' && json !== '' && !/[{}]/.test(json);
}

/** The same for JavaScript schemas. */
export function checkCodeNames(program: CodeProgram, known: KnownNames, findings: Findings): void {
  const written = new Set<string>();
  for (const { kind, name, file, line, column } of program.names) {
    const at = new Cursor(file, line === 0 ? '$' : `${line}:${column}`, undefined, findings);
    written.add(name);
    if (kind === 'source group') checkGroupName(at, name, known);
    if (kind === 'schema') checkName(at, kind, name, known.aliases.schemas);
    if (kind === 'partial') checkName(at, kind, name, known.aliases.partials);
    if (kind === 'webhook') checkName(at, kind, name, known.webhooks);
  }
  // Group names that `triggers` computes have no position in the code.
  for (const [group] of program.triggers) {
    if (!written.has(group)) checkGroupName(new Cursor(program.file, '$', undefined, findings), group, known);
  }
}

function checkGroupName(at: Cursor, group: string, { sourceGroups }: KnownNames): void {
  if (sourceGroups.has(group)) return;
  at.issue(`unknown source group ${quote(group)}`, () => adviceForUnknown(group, sourceGroups));
}

function checkName(at: Cursor, kind: string, name: string, names: ReadonlySet<string>): void {
  if (!names.has(name)) at.warning(`there is no ${kind} ${quote(name)}`, () => adviceForUnknown(name, names));
}
