/**
 * Limits of a tenant's configuration (docs/reference/limits.md). They are checked on the parsed files before anything is built,
 * because some numbers multiply, such as entity types by source groups, and each process keeps the product in memory.
 */
import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import {
  apiKeysPerClientMax,
  destinationsMax,
  domainsMax,
  environmentClientsMax,
  environmentsMax,
  hostnamesMax,
  indexesMax,
  managementClientsMax,
  partialLookupsMax,
  partialsMax,
  schemaLookupsMax,
  schemasMax,
  sourceGroupsMax,
  sourcesMax,
  triggersMax,
} from '../../contract/limits.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';
import { type SchemaFolder, schemaFolders } from '../document-path.ts';

export const schemaFilesMax: Readonly<Record<SchemaFolder, number>> = {
  schemas: schemasMax,
  partials: partialsMax,
  indexes: indexesMax,
};

export interface TenantFiles {
  readonly tenantFile: Cursor;
  readonly folders: Readonly<Record<SchemaFolder, ReadonlyMap<string, Cursor>>>;
  readonly programs: readonly CodeProgram[];
}

/** Reports all exceeded limits. @returns true if the files may be loaded */
export function checkSizes({ tenantFile, folders, programs }: TenantFiles): boolean {
  const sizes = new Sizes(tenantFile);
  sizes.checkTenantFile();
  for (const folder of schemaFolders) sizes.check(folder, folders[folder].size, schemaFilesMax[folder]);
  const groups = itemsOf(tenantFile, 'sourceGroups').length;
  const roots = [...folders.schemas.values(), ...folders.indexes.values()];
  const uses = roots.map((root) => triggersOf(root, groups));
  const typesOfPrograms = sum(programs, ({ triggers }) => sum(triggers, ([, types]) => types.length));
  sizes.check(
    'entity types that trigger schemas',
    sum(uses, ({ types }) => types) + typesOfPrograms,
    triggersMax,
  );
  const lookups = sum(roots, ({ json }, at) => lookupsIn(json) * (uses[at]?.groups ?? 0));
  sizes.check('lookups of schemas over source groups', lookups, schemaLookupsMax);
  sizes.check(
    'lookups in partials',
    sum(folders.partials.values(), ({ json }) => lookupsIn(json)),
    partialLookupsMax,
  );
  for (const root of folders.schemas.values()) sizes.checkList(root.member('destinations'), destinationsMax);
  return sizes.areValid;
}

/** The message and advice for an exceeded limit. */
export function tooMany(what: string, count: number, max: number): { message: string; advice: string } {
  const message = `has ${count} ${what}; at most ${max} are allowed`;
  return { message, advice: 'Remove some, or use several tenants.' };
}

class Sizes {
  areValid = true;

  constructor(private readonly tenantFile: Cursor) {}

  checkTenantFile(): void {
    const { tenantFile } = this;
    const lists = [
      ['environments', environmentsMax],
      ['sourceGroups', sourceGroupsMax],
      ['domains', domainsMax],
      ['environmentClients', environmentClientsMax],
      ['managementClients', managementClientsMax],
    ] as const;
    for (const [name, max] of lists) this.checkList(tenantFile.member(name), max);
    const sources = itemsOf(tenantFile, 'sourceGroups').flatMap((group) => itemsOf(group, 'sources'));
    this.check('sources', sources.length, sourcesMax);
    const hostnames = sum(itemsOf(tenantFile, 'domains'), (domain) => itemsOf(domain, 'hostnames').length);
    this.check('hostnames', hostnames, hostnamesMax);
    const clients = ['environmentClients', 'managementClients'].flatMap((name) => itemsOf(tenantFile, name));
    for (const one of [...sources, ...clients]) this.checkList(one.member('apiKeys'), apiKeysPerClientMax);
  }

  checkList(list: Cursor, max: number): void {
    if (Array.isArray(list.json)) this.check('entries', list.json.length, max, list);
  }

  check(what: string, count: number, max: number, at: Cursor = this.tenantFile): void {
    if (count <= max) return;
    this.areValid = false;
    const { message, advice } = tooMany(what, count, max);
    at.issue(message, advice);
  }
}

/** The number of source groups that trigger a file, and of entity types, counted once per group. */
function triggersOf(root: Cursor, groups: number): { readonly groups: number; readonly types: number } {
  const triggers = root.member('triggers');
  const named = triggers.names().map((group) => itemsOf(triggers, group).length);
  const hasTypesOfAnyGroup = !root.member('sourceEntityTypes').isAbsent;
  const typesOfAnyGroup = itemsOf(root, 'sourceEntityTypes').length;
  return {
    groups: hasTypesOfAnyGroup ? Math.max(groups, named.length) : named.length,
    types: sum(named, (types) => types) + typesOfAnyGroup * groups,
  };
}

function lookupsIn(json: Json | undefined): number {
  if (Array.isArray(json)) return sum(json, lookupsIn);
  if (json === undefined || !isJsonObject(json)) return 0;
  return sum(Object.entries(json), ([name, value]) => (name === '$lookup' ? 1 : 0) + lookupsIn(value));
}

/** The items of a list; empty for any other value, which is reported elsewhere. */
function itemsOf(at: Cursor, name: string): Cursor[] {
  const list = at.member(name);
  return Array.isArray(list.json) ? list.items() : [];
}

function sum<T>(things: Iterable<T>, of: (thing: T, at: number) => number): number {
  let total = 0;
  let at = 0;
  for (const thing of things) {
    total += of(thing, at);
    at += 1;
  }
  return total;
}
