import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { documentPlace, type SchemaFolder } from './document-path.ts';
import { parseJsonText } from './json-text.ts';

/** The files of one tenant, each at its root. A root is absent where the text is no JSON, which is reported already. */
export interface TenantDocuments {
  /** Null: there is no such file. */
  tenantFile: Cursor | null;
  /** Files of each folder by alias. */
  readonly folders: Readonly<Record<SchemaFolder, Map<string, Cursor>>>;
}

/** Documents parsed, by the name of their tenant; what is wrong with a path or a text is reported. */
export function parseDocuments(documents: ConfigDocuments, findings: Findings): Map<string, TenantDocuments> {
  const tenants = new Map<string, TenantDocuments>();
  for (const [file, text] of [...documents].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const place = documentPlace(file);
    if (place === null) {
      new Cursor(file, '$', undefined, findings).issue('not a place for a configuration file', 'Remove it.');
      continue;
    }
    const root = parseDocument(file, text, findings);
    const tenant = tenants.get(place.tenant) ?? noDocuments();
    tenants.set(place.tenant, tenant);
    if (place.kind === 'tenant') tenant.tenantFile = root;
    else tenant.folders[place.kind].set(place.alias, root);
  }
  return tenants;
}

function noDocuments(): TenantDocuments {
  return { tenantFile: null, folders: { schemas: new Map(), partials: new Map(), indexes: new Map() } };
}

function parseDocument(file: string, text: string, findings: Findings): Cursor {
  const parsed = parseJsonText(text);
  if (parsed.ok) return new Cursor(file, '$', parsed.json, findings);
  for (const mistake of parsed.mistakes) findings.mistakes.push({ file, ...mistake });
  return new Cursor(file, '$', undefined, findings);
}
