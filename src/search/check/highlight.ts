import type { Json, JsonObject } from '../../contract/json.ts';
import { highlightShape } from '../../contract/shapes-query.ts';
import type { CheckedHighlight, CheckedSearch } from '../checked-query.ts';
import type { FieldTable } from '../fields/field-table.ts';
import { readerOf } from './members.ts';
import { type Mistakes, quote } from './mistakes.ts';
import { checkSearchable } from './search-fields.ts';

const readHighlight = readerOf(highlightShape, 'ignored');

/**
 * The highlights of a query (docs/reference/indexes-and-queries.md "Highlights"). Without a search nothing
 * is highlighted.
 */
export function checkHighlight(
  sent: JsonObject,
  search: CheckedSearch | null,
  table: FieldTable,
  mistakes: Mistakes,
): CheckedHighlight | null {
  const highlight = readHighlight(sent, 'highlight', mistakes);
  if (highlight === null) return null;
  const { fields, before, after, length } = highlight;
  const named = fields && checkNames(fields, table, mistakes);
  if (search === null) return null;
  return {
    fields: named ?? search.fields.map(({ field }) => field),
    before: before ?? '<em>',
    after: after ?? '</em>',
    length: length ?? null,
  };
}

function checkNames(fields: readonly Json[], table: FieldTable, mistakes: Mistakes): string[] {
  const names = new Set<string>();
  for (const [at, name] of fields.entries()) {
    const place = `highlight.fields[${at}]`;
    if (typeof name !== 'string') mistakes.add(place, `must be a string, not ${quote(name)}`);
    else if (!names.has(name)) {
      checkSearchable(name, place, table, mistakes);
      names.add(name);
    }
  }
  return [...names];
}
