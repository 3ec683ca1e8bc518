import { Cursor, type Findings } from '../../../src/contract/config-cursor.ts';
import type { ConfigIssue } from '../../../src/contract/diagnostic.ts';
import type { Json } from '../../../src/contract/json.ts';

/** A value as the root of a file, with the errors and warnings found in it so far, and their paths. */
export function cursorOver(json: Json | undefined): {
  at: Cursor;
  mistakes: readonly ConfigIssue[];
  warnings: readonly ConfigIssue[];
  places: () => string[];
} {
  const findings: Findings = { mistakes: [], warnings: [] };
  return {
    at: new Cursor('file.json', '$', json, findings),
    mistakes: findings.mistakes,
    warnings: findings.warnings,
    places: () => findings.mistakes.map(({ path }) => path),
  };
}
