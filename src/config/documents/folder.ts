/** Reads CONFIG_DIR (docs/reference/configuration.md "Files"). What does not belong there is an issue, not a surprise. */
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { configFileBytesMax } from '../../contract/limits.ts';
import { nearestName } from '../../lib/suggest.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { nameAdvice } from '../tenant/fields.ts';
import {
  isAlias,
  isTenantName,
  missingTenantFileAdvice,
  schemaFolders,
  tenantFilePath,
} from './document-path.ts';

export interface ReadDocuments {
  /** As the files are written: plain API keys included. `hashKeys` before they go anywhere. */
  readonly documents: ConfigDocuments;
  readonly issues: readonly ConfigIssue[];
}

/** Reads every document of a configuration folder. Never throws for what lies in it. */
export async function readDocuments(configDir: string): Promise<ReadDocuments> {
  const reading = new Reading(configDir);
  await reading.everything();
  return { documents: reading.documents, issues: reading.issues };
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
        this.#issue(path, 'a file among the tenants', 'A tenant is a folder: tenants/<tenant>/tenant.json.');
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
    for (const name of names) await this.#tenantEntry(`${folder}/${name}`, name);
  }

  async #tenantEntry(path: string, name: string): Promise<void> {
    const kind = await this.#kind(path);
    const schemaFolder = schemaFolders.some((known) => known === name);
    if (kind === 'folder' && schemaFolder) return this.#schemaFolder(path);
    if (kind === 'file' && name === 'tenant.json') return this.#document(path);
    // Notes such as a README or credits may lie beside tenant.json; nobody takes them for configuration.
    if (kind === 'file' && name.endsWith('.md')) return;
    const known = ['tenant.json', ...schemaFolders];
    const nearest = nearestName(name, known);
    const guess = nearest === null || nearest === name ? '' : `Did you mean "${nearest}"? `;
    const allowed = 'A tenant has the file tenant.json and the folders schemas, partials and indexes.';
    this.#issue(path, `a ${kind} that does not belong here`, `${guess}${allowed}`);
  }

  async #schemaFolder(folder: string): Promise<void> {
    for (const name of await this.#entries(folder)) {
      const path = `${folder}/${name}`;
      if ((await this.#kind(path)) !== 'file') {
        this.#issue(
          path,
          'not a file',
          'Only files named <alias>.json lie here, in no folders of their own.',
        );
      } else if (!name.endsWith('.json')) {
        this.#issue(path, 'not a .json file', 'Name it <alias>.json, or move it out of the configuration.');
      } else if (!isAlias(name.slice(0, -'.json'.length))) {
        this.#issue(path, 'the file name is not an alias', nameAdvice('- and _'));
      } else {
        await this.#document(path);
      }
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

  /** Names in a folder, hidden ones left out, in code-unit order so that reports do not depend on the file system. */
  async #entries(folder: string): Promise<string[]> {
    try {
      const names = await readdir(join(this.#configDir, folder));
      return names.filter((name) => !name.startsWith('.')).sort();
    } catch (error) {
      this.#unreadable(folder, error);
      return [];
    }
  }

  /** Follows symbolic links. A `thing` is a broken link, a socket or a pipe; it must not be opened. */
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
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
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
