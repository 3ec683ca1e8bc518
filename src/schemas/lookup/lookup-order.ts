import type { Json } from '../../contract/json.ts';
import { compareCodePoints } from '../../lib/code-points.ts';

/** A matched entity with the value that it is ordered by. */
export interface Ranked {
  readonly originId: string;
  readonly value: Json;
}

/**
 * Orders numbers before texts before booleans; `desc` turns that around. Other values come last in both directions. Ties
 * are ordered by originId in code-point order (docs/reference/mapping-language.md "Lookups").
 */
export function rankComparer(sort: 'asc' | 'desc'): (a: Ranked, b: Ranked) => number {
  const sign = sort === 'asc' ? 1 : -1;
  return (a, b) => compareRanked(a.value, b.value, sign) || compareCodePoints(a.originId, b.originId);
}

const kinds = ['number', 'string', 'boolean'];

function compareRanked(a: Json, b: Json, sign: number): number {
  const kindA = kinds.indexOf(typeof a);
  const kindB = kinds.indexOf(typeof b);
  if (kindA < 0 || kindB < 0) return (kindA < 0 ? 1 : 0) - (kindB < 0 ? 1 : 0);
  if (kindA !== kindB) return sign * (kindA - kindB);
  if (typeof a === 'string' && typeof b === 'string') return sign * compareCodePoints(a, b);
  return sign * (Number(a) - Number(b));
}
