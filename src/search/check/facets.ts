import type { Json } from '../../contract/json.ts';
import { facetSizeDefault } from '../../contract/limits.ts';
import { facetShape } from '../../contract/shapes-query.ts';
import type { CheckedFacet } from '../checked-query.ts';
import { type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isFacetable, isNumeric, type ValueKind } from '../fields/field-type.ts';
import { checkNumberFacet, type NumberQuestion } from './facet-numbers.ts';
import { readerOf } from './members.ts';
import type { Mistakes } from './mistakes.ts';

const readFacet = readerOf(facetShape, 'ignored');

/**
 * The facets of a query. A field that cannot be faceted, or does not exist, is no mistake: its facet is not valid and
 * has no groups.
 */
export function checkFacets(facets: readonly Json[], table: FieldTable, mistakes: Mistakes): CheckedFacet[] {
  return facets.flatMap((facet, at) => checkFacet(facet, `facets[${at}]`, table, mistakes) ?? []);
}

function checkFacet(sent: Json, place: string, table: FieldTable, mistakes: Mistakes): CheckedFacet | null {
  const facet = readFacet(sent, place, mistakes);
  if (facet === null) return null;
  const { field, filter } = facet;
  const kind = typeof field === 'string' ? facetKind(table, field) : null;
  const question = checkNumberFacet(facet, kind !== null && isNumeric(kind) ? kind : null, place, mistakes);
  if (typeof field !== 'string') return null;
  const name = facet.name ?? field;
  // Some clients send 0 for a size that nobody asked for.
  const size = facet.size || facetSizeDefault;
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
