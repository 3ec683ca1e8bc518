import { Cursor, type Findings } from '../../../src/contract/config-cursor.ts';
import type { Json } from '../../../src/contract/json.ts';

/** A value as the root of a file, and the places of the mistakes found in it so far. */
export function cursorOver(json: Json | undefined): { at: Cursor; places: () => string[] } {
  const findings: Findings = { mistakes: [], warnings: [] };
  return {
    at: new Cursor('file.json', '$', json, findings),
    places: () => findings.mistakes.map(({ path }) => path),
  };
}
