/** Paths of configuration documents (docs/reference/configuration.md "Files"). */
import { isAlias } from '../contract/ids.ts';
import { configNameCharactersMax, schemaFolderDepthMax } from '../contract/limits.ts';

type SchemaLanguage = 'json' | 'code';

/** The kind and alias in the name of a schema file. Only this file knows the suffixes. */
export interface SchemaFileName {
  readonly kind: SchemaFolder;
  readonly language: SchemaLanguage;
  /** As written, so it may not be a valid alias. */
  readonly alias: string;
}

type Ending = readonly [ending: string, kind: SchemaFolder, language: SchemaLanguage];

/** Endings of files in the folder `schemas` that include the kind of schema. */
const kindEndings: readonly Ending[] = [
  ['.full.json', 'schemas', 'json'],
  ['.partial.json', 'partials', 'json'],
  ['.index.json', 'indexes', 'json'],
  ...['.js', '.ts'].flatMap((extension): Ending[] => [
    [`.full${extension}`, 'schemas', 'code'],
    [`.partial${extension}`, 'partials', 'code'],
    [`.index${extension}`, 'indexes', 'code'],
  ]),
];

/**
 * @param folder one of the three, regardless of subfolders between it and the file
 * @returns null for an invalid name
 */
export function splitSchemaFileName(folder: SchemaFolder, name: string): SchemaFileName | null {
  const endings: readonly Ending[] = [
    ...(folder === 'schemas' ? kindEndings : []),
    ['.json', folder, 'json'],
  ];
  const found = endings.find(([ending]) => name.endsWith(ending));
  if (found === undefined) return null;
  const [ending, kind, language] = found;
  return { kind, language, alias: name.slice(0, -ending.length) };
}

export const schemaFolders = ['schemas', 'partials', 'indexes'] as const;

export type SchemaFolder = (typeof schemaFolders)[number];

/** Identifies a configuration document, regardless of subfolders. */
export type DocumentPath =
  | { readonly kind: 'tenant'; readonly tenant: string }
  | SchemaPath
  /** A file that schemas in JavaScript import. */
  | { readonly kind: 'module'; readonly tenant: string }
  /** The compiled form of a JavaScript schema. It is created when documents are published, and is never a file. */
  | { readonly kind: 'program'; readonly tenant: string };

export interface SchemaPath {
  readonly kind: SchemaFolder;
  readonly tenant: string;
  readonly alias: string;
  readonly language: SchemaLanguage;
}

export const idPattern = /^[A-Za-z0-9._-]+$/;
// Excludes characters with a special meaning in file systems, shells or URLs, and leading dots, which hide a folder.
// biome-ignore lint/suspicious/noControlCharactersInRegex: it excludes control characters.
const sortingFolderPattern = /^[^.\\/:*?"<>|\x00-\x1f\x7f][^\\/:*?"<>|\x00-\x1f\x7f]*$/;

/**
 * True for valid ids of environments and sources, and names of tenants: the characters of an alias, and dots. Ids are part of
 * view ids, so they have no slashes.
 */
export function isId(text: string): boolean {
  return text.length <= configNameCharactersMax && idPattern.test(text);
}

/** The document at a path relative to CONFIG_DIR; null if no configuration document may have the path. */
export function parseDocumentPath(path: string): DocumentPath | null {
  const [root, tenant, folder, ...below] = path.split('/');
  if (root !== 'tenants' || tenant === undefined || folder === undefined || !isTenantName(tenant))
    return null;
  const name = below.pop();
  if (name === undefined) return folder === 'tenant.json' ? { kind: 'tenant', tenant } : null;
  if (folder === programFolder) return below.length === 0 ? { kind: 'program', tenant } : null;
  return parseSchemaPath(tenant, folder, below, name) ?? parseModulePath(tenant, [folder, ...below, name]);
}

function parseSchemaPath(
  tenant: string,
  folder: string,
  below: readonly string[],
  name: string,
): SchemaPath | null {
  const schemaFolder = schemaFolders.find((known) => known === folder);
  if (schemaFolder === undefined || !mayBeSortedInto(schemaFolder, below)) return null;
  const file = splitSchemaFileName(schemaFolder, name);
  if (file === null || !isAlias(file.alias)) return null;
  return { kind: file.kind, tenant, alias: file.alias, language: file.language };
}

function parseModulePath(tenant: string, names: readonly string[]): DocumentPath | null {
  const file = names.at(-1) ?? '';
  const isPlain = names.length > 1 && names.every((name) => isSortingFolder(name));
  // JSON in a schema folder is a schema, or misplaced.
  const isSchema = file.endsWith('.json') && schemaFolders.some((folder) => folder === names[0]);
  return isPlain && !isSchema && isModuleName(file) ? { kind: 'module', tenant } : null;
}

/** Endings of files that schemas in JavaScript may import. */
export const moduleEndings = ['.ts', '.js', '.json'] as const;

/**
 * Files that an import path may mean, in order of preference. TypeScript may be imported with the extension of its JavaScript
 * output.
 */
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

/** A hidden name, so that it is never read from a configuration folder. */
const programFolder = '.compiled';

/** Document with the lookups that JavaScript schemas requested at run time, as a list of `RuntimeLookup`. */
export function runtimeLookupsPath(tenant: string): string {
  return `tenants/${tenant}/${programFolder}/lookups.json`;
}

/** Path of a schema's program among the documents of its tenant. @param name from `programName` */
export function programPath(tenant: string, name: string): string {
  return `tenants/${tenant}/${programFolder}/${name.replace('/', '-')}.json`;
}

/**
 * True if files may be in these nested subfolders of `folder`. Only `schemas` may have any.
 * @param names from the outermost to the innermost folder
 */
export function mayBeSortedInto(folder: SchemaFolder, names: readonly string[]): boolean {
  if (names.length === 0) return true;
  return folder === 'schemas' && names.length <= schemaFolderDepthMax && names.every(isSortingFolder);
}

function isSortingFolder(name: string): boolean {
  return name.length <= configNameCharactersMax && sortingFolderPattern.test(name);
}

/** True for a valid folder name of a tenant: an id without a leading dot, which would hide the folder. */
export function isTenantName(name: string): boolean {
  return isId(name) && !name.startsWith('.');
}

export function tenantFilePath(tenant: string): string {
  return `tenants/${tenant}/tenant.json`;
}

export const missingTenantFileAdvice =
  'Every tenant has one; docs/reference/configuration.md shows what is in it.';
