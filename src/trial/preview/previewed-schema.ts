/** The schema to preview: one of the tenant's, or a text that is temporarily added to its schemas. */
import { compileCode } from '../../config/code/compile-code.ts';
import type { ConfigDocuments, Configuration, Tenant } from '../../config/configuration.ts';
import { parseDocumentPath, type SchemaFolder } from '../../config/document-path.ts';
import { checkedInTurn } from '../../config/documents/checked-in-turn.ts';
import { loadingSteps } from '../../config/documents/load.ts';
import { inFolder, withDocumentsOfTenant } from '../../config/documents/tenant-folder.ts';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { assert } from '../../lib/assert.ts';
import type { PreviewedSchema } from './preview.ts';

/** The source of a schema that may not be stored. */
export interface SchemaText {
  readonly kind: 'full' | 'index';
  readonly language: 'json' | 'js' | 'ts';
  readonly text: string;
  /** The schema of the tenant that it replaces in the preview; absent: a new schema. */
  readonly alias?: string;
}

export interface PreviewedTenant {
  readonly tenant: Tenant;
  readonly previewed: PreviewedSchema;
}

/** The text has errors. */
export class SchemaTextError extends Error {
  override readonly name = 'SchemaTextError';

  constructor(readonly issues: readonly ConfigIssue[]) {
    super('the schema has errors');
  }
}

const indexPrefix = 'index:';
/** Types can contain colons, aliases of groups cannot. */
const autoLabel = /^([^:]+):(.+)$/s;

/** The schema for an alias, `index:<alias>` or `index:<group>:<type>`; null if the tenant has none. */
export function storedSchema(tenant: Tenant, name: string): PreviewedSchema | null {
  if (name.startsWith(indexPrefix)) {
    const label = name.slice(indexPrefix.length);
    const index = tenant.indexes.get(label);
    return index === undefined ? autoIndex(tenant, label) : { kind: 'index', schema: index };
  }
  const schema = tenant.schemas.get(name);
  return schema === undefined ? null : { kind: 'full', schema };
}

function autoIndex({ sourceGroups }: Tenant, label: string): PreviewedSchema | null {
  const [, sourceGroup = '', type = ''] = autoLabel.exec(label) ?? [];
  return sourceGroups.get(sourceGroup)?.autoIndex === true ? { kind: 'auto', sourceGroup, type } : null;
}

/**
 * The tenant with the text added to its schemas.
 * @param documents of all tenants, or only of this one
 * @throws SchemaTextError
 */
export async function withSchemaText(
  documents: ConfigDocuments,
  tenant: string,
  asked: SchemaText,
): Promise<PreviewedTenant> {
  const own = withDocumentsOfTenant(new Map(), tenant, inFolder(documents, tenant));
  const alias = asked.alias ?? freeAlias(own);
  const folder = asked.kind === 'full' ? 'schemas' : 'indexes';
  // A text that replaces a file gets its path, for messages and relative imports.
  const replaced = [...own.keys()].find(
    (file) => isSchema(file, folder, alias) && file.endsWith(`.${asked.language}`),
  );
  const path = replaced ?? pathOf(tenant, alias, asked);
  const others = [...own].filter(
    ([file]) => !isSchema(file, folder, alias) && !isProgram(file, asked, alias),
  );
  const planned = new Map([...others, [path, asked.text]]);
  const documentsOfIt = asked.language === 'json' ? planned : await compiled(planned, path);
  const configuration = await loaded(documentsOfIt, path);
  const found = configuration.tenants.get(tenant);
  const previewed = found === undefined ? null : storedSchema(found, nameOf(asked, alias));
  assert(found !== undefined && previewed !== null, 'a schema that was loaded is in its tenant');
  return { tenant: found, previewed };
}

function nameOf({ kind }: SchemaText, alias: string): string {
  return kind === 'index' ? `${indexPrefix}${alias}` : alias;
}

function pathOf(tenant: string, alias: string, { kind, language }: SchemaText): string {
  return `tenants/${tenant}/schemas/${alias}.${kind}.${language}`;
}

function isSchema(file: string, folder: SchemaFolder, alias: string): boolean {
  const parsed = parseDocumentPath(file);
  return parsed?.kind === folder && 'alias' in parsed && parsed.alias === alias;
}

function isProgram(file: string, { kind }: SchemaText, alias: string): boolean {
  return parseDocumentPath(file)?.kind === 'program' && file.endsWith(`/${kind}-${alias}.json`);
}

function freeAlias(documents: ConfigDocuments): string {
  const taken = new Set(
    [...documents.keys()].flatMap((file) => {
      const parsed = parseDocumentPath(file);
      return parsed !== null && 'alias' in parsed ? [parsed.alias] : [];
    }),
  );
  for (let count = 1; ; count += 1) {
    const alias = count === 1 ? 'preview' : `preview-${count}`;
    if (!taken.has(alias)) return alias;
  }
}

/** Compiles only the new schema, because the documents contain the programs of the others. @throws SchemaTextError */
async function compiled(documents: ConfigDocuments, path: string): Promise<ConfigDocuments> {
  const needed = [...documents].filter(
    ([file]) => file === path || parseDocumentPath(file)?.kind === 'module',
  );
  const outcome = await compileCode(new Map(needed), 'preview');
  if (outcome.issues.length > 0) throw new SchemaTextError(outcome.issues);
  return new Map([...documents, ...outcome.documents]);
}

/**
 * Errors in stored documents are tolerated, because these were valid when they were published.
 * @throws SchemaTextError
 * @throws ProblemError 422 if the check takes too long
 */
async function loaded(documents: ConfigDocuments, path: string): Promise<Configuration> {
  const strict = await checkedInTurn(loadingSteps(documents, 'folder'));
  if (strict.ok) return strict.configuration;
  const own = strict.issues.filter(({ file }) => file === path);
  if (own.length > 0) throw new SchemaTextError(own);
  const asStored = await checkedInTurn(loadingSteps(documents, 'stored'), Number.POSITIVE_INFINITY);
  if (asStored.ok) return asStored.configuration;
  throw new SchemaTextError(asStored.issues);
}
