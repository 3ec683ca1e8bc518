import type { CheckedQuery } from '../checked-query.ts';
import type { CodeColumn } from '../columns/code-column.ts';
import { countAll, countGroups, countValues } from '../facets/facet.ts';
import { isFacetable } from '../fields/field-type.ts';
import { pace, type Steps } from '../pace.ts';
import type { FacetGroup, FacetGroups } from '../shard-answer.ts';
import type { Hits } from './hits.ts';
import type { Scratch } from './scratch.ts';
import type { Tables } from './tables.ts';

/** The cost of parsing a byte of JSON text, in units of the pace. */
const unitsPerByte = 5;

export const noGroups: FacetGroups = { groups: [] };

/** The groups of each facet of the query. @param groupsMax number of groups to give when a facet asks for fewer */
export function* facetsOf(
  query: CheckedQuery,
  tables: Tables,
  scratch: Scratch,
  hits: Hits,
  groupsMax: number,
): Steps<FacetGroups[]> {
  const facets: FacetGroups[] = [];
  for (const { field, size, isValid } of query.facets) {
    const codes = isValid ? yield* codesOf(field, tables) : null;
    if (codes === null) facets.push(noGroups);
    else {
      const scope = { codes, docs: scratch.hits, docCount: hits.count, tally: scratch.tally };
      facets.push(yield* countGroups(scope, Math.max(size, groupsMax), tables.isLong(field)));
    }
    if (pace.isOver()) yield;
  }
  return facets;
}

/** Exact counts of the given values of a field, or of all (null), in no order. */
export function* groupsOf(
  field: string,
  tables: Tables,
  scratch: Scratch,
  hits: Hits,
  values: readonly FacetGroup['value'][] | null,
): Steps<FacetGroups> {
  const codes = yield* codesOf(field, tables);
  if (codes === null) return noGroups;
  const scope = { codes, docs: scratch.hits, docCount: hits.count, tally: scratch.tally };
  const groups = yield* values === null ? countAll(scope) : countValues(scope, values);
  return { groups, ...(tables.isLong(field) ? { isLong: true } : {}) };
}

/** The codes of a field; null when the shard has no such field, or the field has no facets. */
function* codesOf(name: string, { docs, fields }: Tables): Steps<CodeColumn | null> {
  let codes = docs.facetCodes(name);
  const field = fields.get(name);
  if (codes === null && field !== undefined && isFacetable(field.traits)) {
    pace.enter('shared');
    codes = yield* field.facetCodes(docs.docCount, (doc) => {
      pace.units += unitsPerByte * docs.textBytesOf(doc).length;
      return docs.fieldsOf(doc)[name] ?? null;
    });
  }
  pace.enter('facets', name);
  return codes;
}
