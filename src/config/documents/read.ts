import type { ConfigIssue } from '../../contract/diagnostic.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { hashKeys } from './canonical.ts';
import { readDocuments } from './folder.ts';
import { type LoadOutcome, loadConfiguration } from './load.ts';

export type ReadOutcome =
  | (Extract<LoadOutcome, { ok: true }> & {
      /** The files it came from, keys hashed: what may be stored and sent to other processes. */
      readonly documents: ConfigDocuments;
    })
  | Extract<LoadOutcome, { ok: false }>;

/** Reads and loads a configuration folder. Mistakes of both come together; never throws for what lies in the folder. */
export async function readConfiguration(configDir: string): Promise<ReadOutcome> {
  const { documents, issues } = await readDocuments(configDir);
  const hashed = hashKeys(documents);
  const loaded = loadConfiguration(hashed);
  if (loaded.ok && issues.length === 0) return { ...loaded, documents: hashed };
  return { ok: false, issues: withoutRepetition([...issues, ...(loaded.ok ? [] : loaded.issues)]) };
}

/** A missing tenant.json is seen by the reader and, if the tenant has schemas, by the loader. */
function withoutRepetition(issues: readonly ConfigIssue[]): ConfigIssue[] {
  const byText = new Map(issues.map((issue) => [`${issue.file}\n${issue.path}\n${issue.message}`, issue]));
  return [...byText.values()].sort((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
}
