import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { compileCode } from '../code/compile-code.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { parseDocumentPath } from '../document-path.ts';
import { hashKeys } from './canonical.ts';
import { readDocuments, readModule } from './folder.ts';
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
