import { Cursor, type Findings } from '../../../src/contract/config-cursor.ts';
import type { ConfigIssue } from '../../../src/contract/diagnostic.ts';
import type { Json } from '../../../src/contract/json.ts';

/** A value as the root of a file, with the errors and warnings found in it so far, and their paths. */
export function cursorOver(json: Json | undefined): {
  at: Cursor;
  issues: readonly ConfigIssue[];
  warnings: readonly ConfigIssue[];
  places: () => string[];
} {
  const findings: Findings = { issues: [], warnings: [] };
  return {
    at: new Cursor('file.json', '$', json, findings),
    issues: findings.issues,
    warnings: findings.warnings,
    places: () => findings.issues.map(({ path }) => path),
  };
}
