/** Reads CONFIG_DIR (docs/reference/configuration.md "Files"). Unexpected files are reported as issues. */
import { existsSync } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { isAlias } from '../../contract/ids.ts';
import { configFileBytesMax, schemaFolderDepthMax } from '../../contract/limits.ts';
import { codeOf, quote } from '../../lib/message-text.ts';
import { nearestName } from '../../lib/suggest.ts';
import { holdsSecrets, ModuleRefused } from '../code/compiler-protocol.ts';
import type { ConfigDocuments } from '../configuration.ts';
import {
  isTenantName,
  mayBeSortedInto,
  missingTenantFileAdvice,
  type SchemaFolder,
  schemaFolders,
  splitSchemaFileName,
  tenantFilePath,
} from '../document-path.ts';
import { nameAdvice } from '../tenant/common-fields.ts';

export interface ReadDocuments {
  /** The file contents, including plain API keys: call `hashKeys` before sending them anywhere. */
  readonly documents: ConfigDocuments;
  readonly issues: readonly ConfigIssue[];
}

/** Reads every document of a configuration folder. Never throws because of its contents. */
export async function readDocuments(configDir: string): Promise<ReadDocuments> {
  const reading = new Reading(configDir);
  await reading.everything();
  return { documents: reading.documents, issues: reading.issues };
}

/**
 * The text of a file that a schema imports; null if there is none.
 * @throws ModuleRefused if it is a link out of the tenant's folder or to the tenant file, too large, or not UTF-8
 */
export async function readModule(configDir: string, path: string): Promise<string | null> {
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
