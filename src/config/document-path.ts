/** Where configuration documents lie (docs/reference/configuration.md "Files"). */
import { isAlias } from '../contract/ids.ts';
import { configNameCharactersMax, schemaFolderDepthMax } from '../contract/limits.ts';

type SchemaLanguage = 'json' | 'code';

/** The kind and alias in the name of a schema file. Only this file knows the suffixes. */
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

/** Identifies a configuration document. Subfolders are not part of it. */
export type DocumentPlace =
  | { readonly kind: 'tenant'; readonly tenant: string }
  | SchemaPlace
  /** A file that schemas in JavaScript import. */
  | { readonly kind: 'module'; readonly tenant: string }
  /** The compiled form of a JavaScript schema. It is created when documents are published, and is in no folder. */
  | { readonly kind: 'program'; readonly tenant: string };

export interface SchemaPlace {
  readonly kind: SchemaFolder;
  readonly tenant: string;
  readonly alias: string;
  readonly language: SchemaLanguage;
}

export const idPattern = /^[A-Za-z0-9._-]+$/;
// Everything that no file system, shell or address takes for something else; a leading dot hides a folder.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it keeps out.
const sortingFolderPattern = /^[^.\\/:*?"<>|\x00-\x1f\x7f][^\\/:*?"<>|\x00-\x1f\x7f]*$/;

/**
 * The characters of an alias, and dots: for ids of environments and sources, and names of tenants. An id is a part of
 * view ids, so it never has a slash.
 */
export function isId(text: string): boolean {
  return text.length <= configNameCharactersMax && idPattern.test(text);
}

/** The place that a path relative to CONFIG_DIR names, or null when no document of the configuration may be there. */
export function documentPlace(path: string): DocumentPlace | null {
  const [root, tenant, folder, ...below] = path.split('/');
  if (root !== 'tenants' || tenant === undefined || folder === undefined || !isTenantName(tenant))
    return null;
  const name = below.pop();
  if (name === undefined) return folder === 'tenant.json' ? { kind: 'tenant', tenant } : null;
  if (folder === programFolder) return below.length === 0 ? { kind: 'program', tenant } : null;
  return schemaPlace(tenant, folder, below, name) ?? modulePlace(tenant, [folder, ...below, name]);
}

function schemaPlace(
  tenant: string,
  folder: string,
  below: readonly string[],
  name: string,
): SchemaPlace | null {
  const schemaFolder = schemaFolders.find((known) => known === folder);
  if (schemaFolder === undefined || !mayBeSortedInto(schemaFolder, below)) return null;
  const file = splitSchemaFileName(schemaFolder, name);
  if (file === null || !isAlias(file.alias)) return null;
  return { kind: file.kind, tenant, alias: file.alias, language: file.language };
}

function modulePlace(tenant: string, names: readonly string[]): DocumentPlace | null {
  const file = names.at(-1) ?? '';
  const isPlain = names.length > 1 && names.every((name) => isSortingFolder(name));
  // JSON in the folders of schemas is a schema, or misplaced.
  const isSchema = file.endsWith('.json') && schemaFolders.some((folder) => folder === names[0]);
  return isPlain && !isSchema && isModuleName(file) ? { kind: 'module', tenant } : null;
}

/** Endings of files that schemas in JavaScript may import. */
export const moduleEndings = ['.ts', '.js', '.json'] as const;

/** Files that an import of a path may mean, the first that is there. TypeScript may be imported as the JavaScript made of it. */
export function moduleCandidates(path: string): readonly string[] {
  const stem = path.replace(/\.js$/, '');
  const candidates = [
    path,
    ...(stem === path ? [] : [`${stem}.ts`]),
    ...moduleEndings.map((ending) => `${path}${ending}`),
    ...moduleEndings.map((ending) => `${path}/index${ending}`),
  ];
  return candidates.filter(isModuleName);
}

function isModuleName(name: string): boolean {
  return moduleEndings.some((ending) => name.endsWith(ending));
}

/** Hidden, so that it is read from no configuration folder. */
const programFolder = '.compiled';

/** Where the lookups are stored that schemas in JavaScript asked for when they were run, as a list of `AskedLookup`. */
export function runtimeLookupsPath(tenant: string): string {
  return `tenants/${tenant}/${programFolder}/lookups.json`;
}

/** Where the program of a schema is among the documents of its tenant. @param name from `programName` */
export function programPath(tenant: string, name: string): string {
  return `tenants/${tenant}/${programFolder}/${name.replace('/', '-')}.json`;
}

/**
 * True when files may be in these folders, which are inside one another below `folder`. Only `schemas` has them.
 * @param names from the outermost to the innermost
 */
export function mayBeSortedInto(folder: SchemaFolder, names: readonly string[]): boolean {
  if (names.length === 0) return true;
  return folder === 'schemas' && names.length <= schemaFolderDepthMax && names.every(isSortingFolder);
}

function isSortingFolder(name: string): boolean {
  return name.length <= configNameCharactersMax && sortingFolderPattern.test(name);
}

/** A tenant's folder name: as an id, but no leading dot, which hides a file. */
export function isTenantName(name: string): boolean {
  return isId(name) && !name.startsWith('.');
}

export function tenantFilePath(tenant: string): string {
  return `tenants/${tenant}/tenant.json`;
}

export const missingTenantFileAdvice =
  'Every tenant has one; docs/reference/configuration.md shows what is in it.';
