import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import { quote } from '../../lib/message-text.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';
import type { ConfigDocuments } from '../configuration.ts';
import {
  parseDocumentPath,
  runtimeLookupsPath,
  type SchemaFolder,
  type SchemaPath,
} from '../document-path.ts';
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
  readonly runtimeLookups: RuntimeLookup[];
}

/** Parses the documents and groups them by tenant; reports invalid paths and texts. */
export function* parseDocuments(
  documents: ConfigDocuments,
  findings: Findings,
): Steps<Map<string, TenantDocuments>> {
  const tenants = new Map<string, TenantDocuments>();
  for (const [file, text] of [...documents].sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield;
    const parsed = parseDocumentPath(file);
    if (parsed === null) {
      new Cursor(file, '$', undefined, findings).issue('not a place for a configuration file', 'Remove it.');
      continue;
    }
    const tenant = tenants.get(parsed.tenant) ?? noDocuments();
    tenants.set(parsed.tenant, tenant);
    if (parsed.kind === 'module') {
      tenant.modules.push(new Cursor(file, '$', undefined, findings));
      continue;
    }
    if (parsed.kind === 'program') {
      if (file === runtimeLookupsPath(parsed.tenant)) tenant.runtimeLookups.push(...JSON.parse(text));
      else tenant.programs.push(JSON.parse(text));
      continue;
    }
    if ('language' in parsed && parsed.language === 'code') {
      addSchema(tenant.folders[parsed.kind], parsed, new Cursor(file, '$', undefined, findings));
      continue;
    }
    const root = parseDocument(file, text, findings);
    if (parsed.kind === 'tenant') tenant.tenantFile = root;
    else addSchema(tenant.folders[parsed.kind], parsed, root);
  }
  return tenants;
}

function noDocuments(): TenantDocuments {
  const folders = { schemas: new Map(), partials: new Map(), indexes: new Map() };
  return { tenantFile: null, folders, programs: [], modules: [], runtimeLookups: [] };
}

/** Two files may have the same alias, because folders are not part of it and a kind has several file extensions. */
function addSchema(files: Map<string, Cursor>, { kind, alias }: SchemaPath, root: Cursor): void {
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
  for (const issue of parsed.issues) findings.issues.push({ file, ...issue });
  return new Cursor(file, '$', undefined, findings);
}
