/** What the name of a schema file says: the one place that knows the endings (docs/reference/configuration.md "Files"). */
export type SchemaLanguage = 'json' | 'code';

export interface SchemaFileName {
  readonly kind: SchemaFolder;
  readonly language: SchemaLanguage;
  /** As it is written, which need not be an alias. */
  readonly alias: string;
}

type Ending = readonly [ending: string, kind: SchemaFolder, language: SchemaLanguage];

/** Endings of files in the folder `schemas` that say themselves what the file is. */
const speakingEndings: readonly Ending[] = [
  ['.full.json', 'schemas', 'json'],
  ['.partial.json', 'partials', 'json'],
  ['.index.json', 'indexes', 'json'],
  ...['.js', '.ts'].flatMap((extension): Ending[] => [
    [`.full${extension}`, 'schemas', 'code'],
    [`.partial${extension}`, 'partials', 'code'],
    [`.index${extension}`, 'indexes', 'code'],
  ]),
];

/** @param folder of the three, whatever folders are between it and the file; null: no name for a schema file */
export function splitSchemaFileName(folder: SchemaFolder, name: string): SchemaFileName | null {
  const endings: readonly Ending[] = [
    ...(folder === 'schemas' ? speakingEndings : []),
    ['.json', folder, 'json'],
  ];
  const found = endings.find(([ending]) => name.endsWith(ending));
  if (found === undefined) return null;
  const [ending, kind, language] = found;
  return { kind, language, alias: name.slice(0, -ending.length) };
}

export const schemaFolders = ['schemas', 'partials', 'indexes'] as const;

export type SchemaFolder = (typeof schemaFolders)[number];
