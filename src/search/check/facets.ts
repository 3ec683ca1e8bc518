import type { Json } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { facetSizeDefault, facetSizeMax, facetsPerQueryMax } from '../../contract/limits.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isFacetable } from '../fields/field-type.ts';
import { type Mistakes, quote } from './mistakes.ts';

type Facet = CheckedQuery['facets'][number];

/**
 * The facets of a query. A field that cannot be faceted, or does not exist, is no mistake: its facet is not valid and
 * has no groups.
 */
export function checkFacets(facets: Json, table: FieldTable, mistakes: Mistakes): Facet[] {
  if (facets === null) return [];
  if (!Array.isArray(facets)) {
    mistakes.add('facets', `must be an array of {"field", "name", "size"}, not ${quote(facets)}`);
    return [];
  }
  if (facets.length > facetsPerQueryMax) {
    mistakes.add('facets', `${facets.length} facets; at most ${facetsPerQueryMax} are allowed`);
    return [];
  }
  return facets.flatMap((facet, at) => checkFacet(facet, `facets[${at}]`, table, mistakes) ?? []);
}

function checkFacet(facet: Json, place: string, table: FieldTable, mistakes: Mistakes): Facet | null {
  if (!isJsonObject(facet)) {
    mistakes.add(place, `must be {"field", "name", "size"}, not ${quote(facet)}`);
    return null;
  }
  const field = getOwn(facet, 'field') ?? null;
  const name = getOwn(facet, 'name') ?? field;
  const size = getOwn(facet, 'size') ?? facetSizeDefault;
  if (typeof field !== 'string') {
    mistakes.add(`${place}.field`, field === null ? 'is missing' : `must be text, not ${quote(field)}`);
  }
  if (typeof name !== 'string' && name !== field) {
    mistakes.add(`${place}.name`, `must be text, not ${quote(name)}`);
  }
  const isSize = typeof size === 'number' && Number.isInteger(size) && size >= 1 && size <= facetSizeMax;
  if (!isSize) {
    mistakes.add(`${place}.size`, `must be a whole number from 1 to ${facetSizeMax}, not ${quote(size)}`);
  }
  if (typeof field !== 'string' || typeof name !== 'string' || !isSize) return null;
  return { field, name, size, isValid: canFacet(table, field) };
}

function canFacet(table: FieldTable, field: string): boolean {
  const meaning = meaningOf(table, field);
  if (meaning.kind !== 'field' || !isFacetable(meaning.traits)) return false;
  return !meaning.isBuiltIn || meaning.traits.kind === 'text';
}
