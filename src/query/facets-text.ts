/**
 * Groups of facets as JSON text. Their values may be megabytes each, so they are counted while they are written, and
 * written in steps.
 */
import { queryPageUnitsMax } from '../contract/limits.ts';
import { pace, type Steps } from '../search/pace.ts';
import type { FacetGroup, FacetGroups } from '../search/types.ts';
import type { QueryFacet } from './types.ts';

/** What a page and its facets may still take, in units of JSON text. */
export class Room {
  #left = queryPageUnitsMax;

  /** @returns false when that is more than there was */
  take(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}

/** About what a group takes beside a text. */
const unitsPerGroup = 40;
/** Groups of so many units are written at once. */
const unitsAtOnce = 65_536;

/** Units of JSON text, roughly. */
function unitsOf(groups: readonly FacetGroup[]): number {
  let units = unitsPerGroup * groups.length;
  for (let at = 0; at < groups.length; at += 1) {
    const value = groups[at]?.value;
    if (typeof value === 'string') units += value.length;
  }
  return units;
}

/** JSON text of groups; null when there is no room for it. */
function* groupsText(groups: readonly FacetGroup[], room: Room): Steps<string | null> {
  if (unitsOf(groups) <= unitsAtOnce) {
    const text = JSON.stringify(groups);
    return room.take(text.length) ? text : null;
  }
  const texts: string[] = [];
  for (const group of groups) {
    const text = JSON.stringify(group);
    if (!room.take(text.length + 1)) return null;
    texts.push(text);
    pace.units += unitsPerGroup + text.length;
    if (pace.isOver()) yield;
  }
  return `[${texts.join()}]`;
}

/** As `JSON.stringify`; null when there is no room for it. */
export function* facetsTextOf(facets: readonly QueryFacet[], room: Room): Steps<string | null> {
  const texts: string[] = [];
  for (const { name, field, groups, isValid } of facets) {
    const text = yield* groupsText(groups, room);
    if (text === null) return null;
    texts.push(
      `{"name":${JSON.stringify(name)},"field":${JSON.stringify(field)},"groups":${text},"isValid":${isValid}}`,
    );
    if (pace.isOver()) yield;
  }
  return `[${texts.join()}]`;
}

/**
 * Groups of a worker that is not alone, for the merge; null when there is no room for those that are asked for. What it
 * sends beyond these, so that fewer questions are left open, it sends only while they are short.
 * @param sizeOf how many groups of a facet, by its place, are asked for
 */
export function* groupsTexts(
  facets: readonly FacetGroups[],
  sizeOf: (at: number) => number,
  room: Room,
): Steps<string | null> {
  const texts: string[] = [];
  for (const [at, facet] of facets.entries()) {
    const { groups, restMax, isLong } = withoutLongRest(facet, sizeOf(at));
    const text = yield* groupsText(groups, room);
    if (text === null) return null;
    const rest = restMax === undefined ? '' : `,"restMax":${restMax}`;
    texts.push(`{"groups":${text}${rest}${isLong === true ? ',"isLong":true' : ''}}`);
    if (pace.isOver()) yield;
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
