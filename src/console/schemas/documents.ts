/** The documents of a tenant, by kind (docs/reference/configuration.md "Files"). */

export interface SchemaDocument {
  readonly path: string;
  readonly alias: string;
  readonly kind: 'full' | 'partial' | 'index';
  readonly language: 'json' | 'js' | 'ts';
}

const pathPattern =
  /^(schemas|partials|indexes)\/(?:.*\/)?([^/]+?)(?:\.(full|partial|index))?\.(json|js|ts)$/;
const kinds = { schemas: 'full', partials: 'partial', indexes: 'index' } as const;

/** The schema that a document defines; null for `tenant.json` and helper modules. */
export function schemaDocument(path: string): SchemaDocument | null {
  const [, folder, alias, named, language] = pathPattern.exec(path) ?? [];
  if (folder === undefined || alias === undefined) return null;
  return {
    path,
    alias,
    kind: (named ?? kinds[folder as keyof typeof kinds]) as SchemaDocument['kind'],
    language: language as SchemaDocument['language'],
  };
}

export function schemaDocuments(documents: Readonly<Record<string, string>>): SchemaDocument[] {
  return Object.keys(documents)
    .sort()
    .map(schemaDocument)
    .filter((document) => document !== null);
}
