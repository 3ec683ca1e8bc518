import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import { quote } from '../../lib/quote.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { documentPlace, runtimeLookupsPath, type SchemaFolder, type SchemaPlace } from '../document-path.ts';
import { parseJsonText } from '../json-text.ts';
import type { RuntimeLookup } from '../tenant/tenant.ts';

/** The files of one tenant, as cursors at their roots. A root is absent if the text is not JSON, which has been reported. */
export interface TenantDocuments {
  /** Null if there is none. */
  tenantFile: Cursor | null;
  /** Files of each folder by alias. */
  readonly folders: Readonly<Record<SchemaFolder, Map<string, Cursor>>>;
  /** The compiled JavaScript schemas. Their sources are not in the members above. */
  readonly programs: CodeProgram[];
  /** Files that they import. */
  readonly modules: Cursor[];
  /** Lookups that they requested at run time. */
  readonly askedLookups: RuntimeLookup[];
}

/** Parses the documents and groups them by tenant; reports invalid paths and texts. */
export function* parseDocuments(
  documents: ConfigDocuments,
  findings: Findings,
): Steps<Map<string, TenantDocuments>> {
  const tenants = new Map<string, TenantDocuments>();
  for (const [file, text] of [...documents].sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield;
    const place = documentPlace(file);
    if (place === null) {
      new Cursor(file, '$', undefined, findings).issue('not a place for a configuration file', 'Remove it.');
      continue;
    }
    const tenant = tenants.get(place.tenant) ?? noDocuments();
    tenants.set(place.tenant, tenant);
    if (place.kind === 'module') {
      tenant.modules.push(new Cursor(file, '$', undefined, findings));
      continue;
    }
    if (place.kind === 'program') {
      if (file === runtimeLookupsPath(place.tenant)) tenant.askedLookups.push(...JSON.parse(text));
      else tenant.programs.push(JSON.parse(text));
      continue;
    }
    if ('language' in place && place.language === 'code') {
      addSchema(tenant.folders[place.kind], place, new Cursor(file, '$', undefined, findings));
      continue;
    }
    const root = parseDocument(file, text, findings);
    if (place.kind === 'tenant') tenant.tenantFile = root;
    else addSchema(tenant.folders[place.kind], place, root);
  }
  return tenants;
}

function noDocuments(): TenantDocuments {
  const folders = { schemas: new Map(), partials: new Map(), indexes: new Map() };
  return { tenantFile: null, folders, programs: [], modules: [], askedLookups: [] };
}

/** Two files may have the same alias, because folders are not part of it and a kind has several file extensions. */
function addSchema(files: Map<string, Cursor>, { kind, alias }: SchemaPlace, root: Cursor): void {
  const first = files.get(alias);
  if (first === undefined) {
    files.set(alias, root);
    return;
  }
  root.issue(
    `${quote(alias)} is the alias of two files of the kind ${kind}`,
    `${first.file} has it too: rename or remove one of them. Folders are not part of an alias.`,
  );
}

function parseDocument(file: string, text: string, findings: Findings): Cursor {
  const parsed = parseJsonText(text);
  if (parsed.ok) return new Cursor(file, '$', parsed.json, findings);
  for (const mistake of parsed.mistakes) findings.mistakes.push({ file, ...mistake });
  return new Cursor(file, '$', undefined, findings);
}
