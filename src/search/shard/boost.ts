import type { CheckedBoost, CheckedSearch } from '../checked-query.ts';
import type { DocScore } from '../text/score.ts';
import type { Tables } from './tables.ts';

const dayMs = 86_400_000;

/** Multiplies scores by the boosts of a search (docs/guide/ranking.md "Boosts"). */
export function boosted(scoreOf: DocScore, search: CheckedSearch, tables: Tables): DocScore {
  const boosts = boostsOf(search, tables);
  if (boosts.length === 0) return scoreOf;
  return (doc) => boosts.reduce((score, boost) => score * boost(doc), scoreOf(doc));
}

/** By which the score of a doc is multiplied, one after the other. */
export function boostsOf({ boost, nowMs }: CheckedSearch, tables: Tables): DocScore[] {
  return boost.map((one) => factorOf(one, nowMs ?? 0, tables)).filter((factor) => factor !== null);
}

/** @returns null when no item here has the field */
function factorOf(
  { field, weight, halfLifeDays, originMs }: CheckedBoost,
  nowMs: number,
  tables: Tables,
): DocScore | null {
  // In descending order a list counts by its largest value, and a value comes the earlier, the larger it is.
  const order = tables.column(field)?.order(true) ?? null;
  if (order === null) return null;
  const gain = halfLifeDays === null ? gainOfNumber : gainOfDate(originMs ?? nowMs, halfLifeDays * dayMs);
  return (doc) => {
    const key = order.key(doc);
    return key === Number.POSITIVE_INFINITY ? 1 : 1 + weight * gain(-key);
  };
}

function gainOfNumber(value: number): number {
  return Math.log10(1 + Math.max(0, value));
}

function gainOfDate(originMs: number, halfLifeMs: number): (value: number) => number {
  return (value) => 2 ** (-Math.abs(value - originMs) / halfLifeMs);
}
