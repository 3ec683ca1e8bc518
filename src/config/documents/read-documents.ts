import { existsSync } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { isAlias } from '../../contract/ids.ts';
import { configFileBytesMax, schemaFolderDepthMax } from '../../contract/limits.ts';
import { codeOf, quote } from '../../lib/message-text.ts';
import { nearestName } from '../../lib/suggest.ts';
import { compileCode } from '../code/compile-code.ts';
import { holdsSecrets, ModuleRefused } from '../code/compiler-protocol.ts';
import type { ConfigDocuments } from '../configuration.ts';
import {
  isTenantName,
  mayBeSortedInto,
  missingTenantFileAdvice,
  parseDocumentPath,
  type SchemaFolder,
  schemaFolders,
  splitSchemaFileName,
  tenantFilePath,
} from '../document-path.ts';
import { nameAdvice } from '../tenant/common-fields.ts';
import { hashKeys } from './canonical.ts';
import { type LoadOutcome, loadConfiguration, notCompiled } from './load.ts';

export type ReadOutcome =
  | (Extract<LoadOutcome, { ok: true }> & {
      /** The source files with hashed keys, which may be stored and sent to other processes. */
      readonly documents: ConfigDocuments;
    })
  | Extract<LoadOutcome, { ok: false }>;

/**
 * Reads and loads a configuration folder, and returns the errors of both steps. Never throws because of the folder's
 * contents.
 */
export async function readConfiguration(configDir: string): Promise<ReadOutcome> {
  const { documents, issues } = await readDocuments(configDir);
  const compiled = await compileCode(documents, 'configuration', (path) => readModule(configDir, path));
  const hashed = hashKeys(compiled.documents);
  const loaded = loadConfiguration(hashed);
  const found = [...issues.filter((issue) => !isImported(issue, compiled.documents)), ...compiled.issues];
  if (loaded.ok && found.length === 0) return { ...loaded, documents: hashed };
  // If no tenant could be read, the warning that there is none is redundant.
  const warnings = loaded.ok && loaded.configuration.tenants.size === 0 ? [] : loaded.warnings;
  return { ok: false, issues: allIssues(found, loaded), warnings };
}

/** The errors of reading, compiling and loading documents, sorted by file. */
export function allIssues(found: readonly ConfigIssue[], loaded: LoadOutcome): ConfigIssue[] {
  return withoutRepetition([...found, ...(loaded.ok ? [] : loaded.issues)]);
}

/** True for an unexpected file that a schema imports, and for its folder. */
function isImported({ file, path }: ConfigIssue, documents: ConfigDocuments): boolean {
  if (path !== '$') return false;
  if (parseDocumentPath(file)?.kind === 'module' && documents.has(file)) return true;
  return [...documents.keys()].some(
    (document) => document.startsWith(`${file}/`) && parseDocumentPath(document)?.kind === 'module',
  );
}

/** Removes duplicates: a missing tenant.json is reported by the reader and, if the tenant has schemas, by the loader. */
function withoutRepetition(issues: readonly ConfigIssue[]): ConfigIssue[] {
  const byText = new Map(issues.map((issue) => [`${issue.file}\n${issue.path}\n${issue.message}`, issue]));
  // "Not compiled" is redundant if other errors are reported.
  if (issues.some(({ message }) => message !== notCompiled)) {
    for (const [text, { message }] of byText) if (message === notCompiled) byText.delete(text);
  }
  return [...byText.values()].sort((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
}

interface ReadDocuments {
  /** The file contents, including plain API keys: call `hashKeys` before sending them anywhere. */
  readonly documents: ConfigDocuments;
  readonly issues: readonly ConfigIssue[];
}

/**
 * Reads every document of CONFIG_DIR (docs/reference/configuration.md "Files"). Unexpected files are reported as issues. Never
 * throws because of its contents.
 */
export async function readDocuments(configDir: string): Promise<ReadDocuments> {
  const reading = new Reading(configDir);
  await reading.everything();
  return { documents: reading.documents, issues: reading.issues };
}

/**
 * The text of a file that a schema imports; null if there is none.
 * @throws ModuleRefused if it is a link out of the tenant's folder or to the tenant file, too large, or not UTF-8
 */
async function readModule(configDir: string, path: string): Promise<string | null> {
  const tenantFolder = path.split('/').slice(0, 2).join('/');
  try {
    const file = await realpath(join(configDir, path));
    const folder = await realpath(join(configDir, tenantFolder));
    if (!file.startsWith(folder + sep))
      throw new ModuleRefused("is a link to a file outside the tenant's folder");
    const { size: sizeBytes, dev, ino } = await stat(file);
    const tenantFile = await stat(join(folder, 'tenant.json')).catch(() => null);
    if (dev === tenantFile?.dev && ino === tenantFile.ino) throw new ModuleRefused(holdsSecrets);
    if (sizeBytes > configFileBytesMax) throw new ModuleRefused(`is larger than ${configFileBytesMax} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof ModuleRefused) throw error;
    if (error instanceof TypeError) throw new ModuleRefused('is not UTF-8 text');
    return null;
  }
}

class Reading {
  readonly documents = new Map<string, string>();
  readonly issues: ConfigIssue[] = [];
  readonly #configDir: string;

  constructor(configDir: string) {
    this.#configDir = configDir;
  }

  async everything(): Promise<void> {
    for (const tenant of await this.#entries('tenants')) {
      const path = `tenants/${tenant}`;
      if ((await this.#kind(path)) !== 'folder') {
        this.#issue(path, 'is a file, not a folder', 'A tenant is a folder: tenants/<tenant>/tenant.json.');
      } else if (isTenantName(tenant)) {
        await this.#tenant(path, tenant);
      } else {
        this.#issue(path, 'not a name for a tenant', nameAdvice('-, _ and .'));
      }
    }
  }

  async #tenant(folder: string, tenant: string): Promise<void> {
    const names = await this.#entries(folder);
    if (!names.includes('tenant.json')) {
      this.#issue(tenantFilePath(tenant), 'the file is missing', missingTenantFileAdvice);
    }
    for (const name of names) await this.#tenantEntry(folder, name);
  }

  async #tenantEntry(folder: string, name: string): Promise<void> {
    const path = `${folder}/${name}`;
    const kind = await this.#kind(path);
    const schemaFolder = schemaFolders.find((known) => known === name);
    if (kind === 'folder' && schemaFolder !== undefined) return this.#schemaFolder(folder, schemaFolder);
    if (kind === 'file' && name === 'tenant.json') return this.#document(path);
    // Notes such as a README may be next to tenant.json.
    if (kind === 'file' && name.endsWith('.md')) return;
    const known = ['tenant.json', ...schemaFolders];
    const nearest = nearestName(name, known);
    const guess = nearest === null || nearest === name ? '' : `Did you mean "${nearest}"? `;
    const allowed = 'A tenant has the file tenant.json and the folders schemas, partials and indexes.';
    this.#issue(path, `a ${kind} that does not belong here`, `${guess}${allowed}`);
  }

  /** @param folders subfolders between `folder` and the files, from the outermost to the innermost */
  async #schemaFolder(
    tenantPath: string,
    folder: SchemaFolder,
    folders: readonly string[] = [],
  ): Promise<void> {
    const at = [tenantPath, folder, ...folders].join('/');
    for (const name of await this.#entries(at)) {
      const path = `${at}/${name}`;
      const kind = await this.#kind(path);
      const below = [...folders, name];
      if (kind === 'file') await this.#schemaFile(path, folder, name);
      else if (kind !== 'folder') this.#issue(path, 'not a file', `Only files ${namesOf(folder)} lie here.`);
      else if (mayBeSortedInto(folder, below)) await this.#schemaFolder(tenantPath, folder, below);
      else this.#issue(path, 'a folder that does not belong here', folderAdvice(folder));
    }
  }

  async #schemaFile(path: string, folder: SchemaFolder, name: string): Promise<void> {
    const file = splitSchemaFileName(folder, name);
    if (file === null) {
      const advice = `Name it ${namesOf(folder)}, or move it out of the configuration.`;
      this.#issue(path, 'not a name for a schema file', advice);
    } else if (isAlias(file.alias)) {
      await this.#document(path);
    } else {
      const advice = `Name it ${namesOf(folder)}. ${nameAdvice('- and _')}`;
      this.#issue(path, `${quote(file.alias)} is not an alias`, advice);
    }
  }

  async #document(path: string): Promise<void> {
    const file = join(this.#configDir, path);
    try {
      const { size: sizeBytes } = await stat(file);
      if (sizeBytes > configFileBytesMax) {
        this.#issue(
          path,
          `larger than ${configFileBytesMax} bytes`,
          'Split it, or move data out of the configuration.',
        );
        return;
      }
      const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
      this.documents.set(path, text);
    } catch (error) {
      if (error instanceof TypeError) this.#issue(path, 'not UTF-8 text', 'Save the file as UTF-8.');
      else this.#unreadable(path, error);
    }
  }

  /**
   * Names in a folder, in code-unit order, so that reports do not depend on the file system. Hidden files and editor backups
   * are skipped.
   */
  async #entries(folder: string): Promise<string[]> {
    try {
      const entries = await readdir(join(this.#configDir, folder), { withFileTypes: true });
      return entries
        .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || !isOfEditor(entry.name)))
        .map(({ name }) => name)
        .sort();
    } catch (error) {
      this.#unreadable(folder, error);
      return [];
    }
  }

  /** Follows symbolic links. A `thing` is a broken link, a socket or a pipe, which must not be opened. */
  async #kind(path: string): Promise<'file' | 'folder' | 'thing'> {
    try {
      const found = await stat(join(this.#configDir, path));
      if (found.isFile()) return 'file';
      return found.isDirectory() ? 'folder' : 'thing';
    } catch {
      return 'thing';
    }
  }

  #unreadable(path: string, error: unknown): void {
    const code = codeOf(error) ?? 'unknown';
    if (code === 'ENOENT') {
      const found = existsSync(this.#configDir) ? `has no ${path}` : 'does not exist';
      this.#issue(
        path,
        'not found',
        `Create it, or point CONFIG_DIR at the configuration folder: ${this.#configDir} ${found}.`,
      );
    } else {
      this.#issue(path, `cannot be read (${code})`, 'Check its kind and its permissions.');
    }
  }

  #issue(file: string, message: string, advice: string): void {
    this.issues.push({ file, path: '$', message, advice });
  }
}

/** True for editor backups (`page.json~`) and auto-saved files of Emacs (`#page.json#`). */
function isOfEditor(name: string): boolean {
  return name.endsWith('~') || /^#.*#$/.test(name);
}

function namesOf(folder: SchemaFolder): string {
  if (folder !== 'schemas') return '<alias>.json';
  return '<alias>.json, <alias>.full.json, <alias>.partial.json or <alias>.index.json (also .js, .ts)';
}

function folderAdvice(folder: SchemaFolder): string {
  if (folder !== 'schemas') return 'Move its files up: only the folder schemas may have folders.';
  return `Folders in schemas are at most ${schemaFolderDepthMax} deep; their names cannot contain \\ : * ? " < > | or begin with a dot.`;
}
