/**
 * Writes groups of facets as JSON text. A value may have megabytes, so the text is written in steps and its size is checked
 * meanwhile.
 */
import { queryPageUnitsMax } from '../../contract/limits.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { MergedFacet } from '../../search/merge-answers.ts';
import type { FacetGroup, FacetGroups } from '../../search/shard-answer.ts';

/** The remaining size for a page and its facets, in UTF-16 units of JSON text. */
export class SizeBudget {
  #left = queryPageUnitsMax;

  /** True if more was taken than allowed. */
  get isExceeded(): boolean {
    return this.#left < 0;
  }

  /** @returns false if the budget is exceeded */
  take(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}

/** Approximate size of a group besides a string value. */
const unitsPerGroup = 40;
/** Groups up to this size are written in one step. */
const unitsAtOnce = 65_536;

/** Approximate size of the groups as JSON text, in UTF-16 units. */
function unitsOf(groups: readonly FacetGroup[]): number {
  let units = unitsPerGroup * groups.length;
  for (let at = 0; at < groups.length; at += 1) {
    const value = groups[at]?.value;
    if (typeof value === 'string') units += value.length;
  }
  return units;
}

/** JSON text of groups; null if the budget is exceeded. */
function* groupsText(groups: readonly FacetGroup[], budget: SizeBudget): Steps<string | null> {
  if (unitsOf(groups) <= unitsAtOnce) {
    const text = JSON.stringify(groups);
    return budget.take(text.length) ? text : null;
  }
  const texts: string[] = [];
  for (const group of groups) {
    const text = JSON.stringify(group);
    workBudget.units += unitsPerGroup + text.length;
    if (!budget.take(text.length + 1)) return null;
    texts.push(text);
    if (workBudget.isOver()) yield;
  }
  return `[${texts.join()}]`;
}

/** Facets as JSON; null if the budget is exceeded. */
export function* facetsTextOf(facets: readonly MergedFacet[], budget: SizeBudget): Steps<string | null> {
  const texts: string[] = [];
  for (const { name, field, groups, isValid, stats } of facets) {
    const text = yield* groupsText(groups, budget);
    if (text === null) return null;
    const statsText = stats === undefined ? '' : `,"stats":${JSON.stringify(stats)}`;
    texts.push(
      `{"name":${JSON.stringify(name)},"field":${JSON.stringify(field)},"groups":${text},"isValid":${isValid}${statsText}}`,
    );
  }
  return `[${texts.join()}]`;
}

/**
 * Groups of one of several workers, for the merge; null if the requested ones exceed the budget. The worker also sends further
 * groups while they are short, so that the merge needs a second round less often.
 * @param sizeOf number of requested groups, by the index of the facet
 */
export function* groupsTexts(
  facets: readonly FacetGroups[],
  sizeOf: (at: number) => number,
  budget: SizeBudget,
): Steps<string | null> {
  const texts: string[] = [];
  for (const [at, facet] of facets.entries()) {
    const { groups, ...others } = withoutLongRest(facet, sizeOf(at));
    const text = yield* groupsText(groups, budget);
    if (text === null) return null;
    const otherTexts = JSON.stringify(others).slice(1);
    texts.push(`{"groups":${text}${otherTexts === '}' ? '' : ','}${otherTexts}`);
  }
  return `[${texts.join()}]`;
}

function withoutLongRest(facet: FacetGroups, size: number): FacetGroups {
  const { groups } = facet;
  if (groups.length <= size || unitsOf(groups) <= unitsAtOnce) return facet;
  let units = 0;
  let kept = 0;
  for (; kept < groups.length; kept += 1) {
    units += unitsOf(groups.slice(kept, kept + 1));
    if (kept >= size && units > unitsAtOnce) break;
  }
  return kept === groups.length
    ? facet
    : { ...facet, groups: groups.slice(0, kept), restMax: groups[kept]?.count ?? 0 };
}
