import type { Json } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { facetSizeDefault, facetSizeMax, facetsPerQueryMax } from '../../contract/limits.ts';
import type { CheckedFacet } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isFacetable, isNumeric, type ValueKind } from '../fields/field-type.ts';
import { checkNumberFacet, type NumberQuestion } from './facet-numbers.ts';
import { type Mistakes, quote } from './mistakes.ts';

/**
 * The facets of a query. A field that cannot be faceted, or does not exist, is no mistake: its facet is not valid and
 * has no groups.
 */
export function checkFacets(facets: Json, table: FieldTable, mistakes: Mistakes): CheckedFacet[] {
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

function checkFacet(facet: Json, place: string, table: FieldTable, mistakes: Mistakes): CheckedFacet | null {
  if (!isJsonObject(facet)) {
    mistakes.add(place, `must be {"field", "name", "size"}, not ${quote(facet)}`);
    return null;
  }
  const field = getOwn(facet, 'field') ?? null;
  const name = getOwn(facet, 'name') ?? field;
  // Some clients send 0 for a size that nobody asked for.
  const sent = getOwn(facet, 'size') ?? facetSizeDefault;
  const size = sent === 0 ? facetSizeDefault : sent;
  if (typeof field !== 'string') {
    mistakes.add(`${place}.field`, field === null ? 'is missing' : `must be a string, not ${quote(field)}`);
  }
  if (typeof name !== 'string' && name !== field) {
    mistakes.add(`${place}.name`, `must be a string, not ${quote(name)}`);
  }
  const isSize = typeof size === 'number' && Number.isInteger(size) && size >= 1 && size <= facetSizeMax;
  if (!isSize) {
    mistakes.add(`${place}.size`, `must be a whole number from 1 to ${facetSizeMax}, not ${quote(size)}`);
  }
  const filter = getOwn(facet, 'filter') ?? true;
  if (typeof filter !== 'boolean') {
    mistakes.add(`${place}.filter`, `must be true or false, not ${quote(filter)}`);
  }
  const kind = typeof field === 'string' ? facetKind(table, field) : null;
  const question = checkNumberFacet(facet, kind !== null && isNumeric(kind) ? kind : null, place, mistakes);
  if (typeof field !== 'string' || typeof name !== 'string' || !isSize) return null;
  const isValid = kind !== null && (question === null || canHave(question, kind));
  const unfiltered = filter === false ? { isUnfiltered: true as const } : {};
  const numbers = isValid && question !== null ? { numbers: { kind, ...question } } : {};
  return { field, name, size, isValid, ...unfiltered, ...numbers };
}

/** The kind of values that the facet of a field counts; null for a field that cannot be faceted. */
function facetKind(table: FieldTable, field: string): ValueKind | null {
  const meaning = meaningOf(table, field);
  if (meaning.kind !== 'field' || !isFacetable(meaning.traits)) return null;
  const { kind } = meaning.traits;
  return meaning.isBuiltIn && kind !== 'text' ? null : kind;
}

function canHave({ interval }: NumberQuestion, kind: ValueKind): boolean {
  return interval === null ? isNumeric(kind) : kind === 'date';
}
