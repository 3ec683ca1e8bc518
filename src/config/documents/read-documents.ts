import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { compileCode } from '../code/compile-code.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { documentPlace } from '../document-path.ts';
import { hashKeys } from './canonical.ts';
import { readDocuments, readModule } from './folder.ts';
import { type LoadOutcome, loadConfiguration, notCompiled } from './load.ts';

export type ReadOutcome =
  | (Extract<LoadOutcome, { ok: true }> & {
      /** The files it came from, keys hashed: what may be stored and sent to other processes. */
      readonly documents: ConfigDocuments;
    })
  | Extract<LoadOutcome, { ok: false }>;

/** Reads and loads a configuration folder. Mistakes of both come together; never throws for what is in the folder. */
export async function readConfiguration(configDir: string): Promise<ReadOutcome> {
  const { documents, issues } = await readDocuments(configDir);
  const compiled = await compileCode(documents, 'configuration', (path) => readModule(configDir, path));
  const hashed = hashKeys(compiled.documents);
  const loaded = loadConfiguration(hashed);
  const found = [...issues.filter((issue) => !isImported(issue, compiled.documents)), ...compiled.issues];
  if (loaded.ok && found.length === 0) return { ...loaded, documents: hashed };
  // Where no tenant could be read, that there is none says nothing new.
  const warnings = loaded.ok && loaded.configuration.tenants.size === 0 ? [] : loaded.warnings;
  return { ok: false, issues: allMistakes(found, loaded), warnings };
}

/** The mistakes of reading and compiling documents together with those of loading them, in the order of the files. */
export function allMistakes(found: readonly ConfigIssue[], loaded: LoadOutcome): ConfigIssue[] {
  return withoutRepetition([...found, ...(loaded.ok ? [] : loaded.issues)]);
}

/** A file that belongs nowhere by itself belongs where a schema imports it; so does its folder. */
function isImported({ file, path }: ConfigIssue, documents: ConfigDocuments): boolean {
  if (path !== '$') return false;
  if (documentPlace(file)?.kind === 'module' && documents.has(file)) return true;
  return [...documents.keys()].some(
    (document) => document.startsWith(`${file}/`) && documentPlace(document)?.kind === 'module',
  );
}

/** A missing tenant.json is seen by the reader and, if the tenant has schemas, by the loader. */
function withoutRepetition(issues: readonly ConfigIssue[]): ConfigIssue[] {
  const byText = new Map(issues.map((issue) => [`${issue.file}\n${issue.path}\n${issue.message}`, issue]));
  // "Not compiled" says nothing new when other errors are reported.
  if (issues.some(({ message }) => message !== notCompiled)) {
    for (const [text, { message }] of byText) if (message === notCompiled) byText.delete(text);
  }
  return [...byText.values()].sort((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
}
