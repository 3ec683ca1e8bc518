/** The terms of a field that match a word of a search, in tiers (docs/guide/ranking.md "Which words match"). */
import { pace, type Steps } from '../../lib/pace.ts';
import type { AskedWord } from '../analysis/analyzer.ts';
import { isPhrase } from '../analysis/phrase-finder.ts';
import type { FieldText } from './field-text.ts';
import { beginningFactors, stemFactor, synonymFactor, tierCount, wholeFactors } from './relevance.ts';
import type { TextIndex } from './text-index.ts';

/** The cost of looking up a term that means a word, in units of the pace. */
const unitsPerMeantTerm = 100;

/** Terms that count alike. */
export interface TermGroup {
  readonly index: TextIndex;
  readonly places: readonly number[];
  /** In twentieths. */
  readonly factor: number;
}

/** The groups of each tier; of the tiers beyond its end there are none. A term is in one group only: in its first tier, with its highest factor there. */
export type Tiers = readonly (readonly TermGroup[])[];

export const noTiers: Tiers = [[], [], []];

/** The terms of a field that match a word. @param bound edits that are looked for, at most those that the word may have */
export function* tiersOf(text: FieldText, asked: AskedWord, bound = asked.bound): Steps<Tiers> {
  const { words, phrases } = text;
  const { word, synonyms, stem, isBeginning } = asked;
  const near = yield* words.terms.within(word, bound);
  // No term has two roles then.
  if (synonyms.size === 0 && stem === null && !isBeginning) return near.map(groupsOf(words));
  const terms = new BestOfTerms();
  for (const [distance, places] of near.entries())
    terms.noteAll(places, distance, wholeFactors[distance] ?? 0);
  const tiers = new TierGroups();
  for (const term of synonyms) {
    const index = isPhrase(term) ? phrases : words;
    const places = index?.terms.placesOf(term) ?? [];
    if (index === words) terms.noteAll(places, 0, synonymFactor);
    else if (index !== null) tiers.add(0, { index, places, factor: synonymFactor });
    pace.units += unitsPerMeantTerm;
  }
  if (stem !== null) {
    terms.noteAll(words.placesOfStem(stem), 0, stemFactor);
    pace.units += unitsPerMeantTerm;
  }
  if (isBeginning) {
    for (const [distance, places] of (yield* words.terms.beginningWithin(word, bound)).entries()) {
      const factor = beginningFactors[distance] ?? 0;
      tiers.add(distance, { index: words, places: terms.takeKnown(places, distance, factor), factor });
      pace.units += places.length;
      if (pace.isOver()) yield;
    }
  }
  terms.each((tier, factor, places) => tiers.add(tier, { index: words, places, factor }));
  return tiers.groups;
}

function groupsOf(index: TextIndex): (places: readonly number[], distance: number) => readonly TermGroup[] {
  return (places, distance) =>
    places.length === 0 ? noGroups : [{ index, places, factor: wholeFactors[distance] ?? 0 }];
}

const noGroups: readonly TermGroup[] = [];

class TierGroups {
  readonly groups: TermGroup[][] = Array.from({ length: tierCount }, () => []);

  add(tier: number, group: TermGroup): void {
    if (group.places.length > 0) this.groups[tier]?.push(group);
  }
}

/** Terms in several roles, of which the best counts. They are few: the beginnings, of which there may be very many, are apart. */
class BestOfTerms {
  /** By place: the tier, and by how much the factor falls short of the greatest, as one number that is least for the best. */
  readonly #best = new Map<number, number>();

  noteAll(places: readonly number[], tier: number, factor: number): void {
    for (const place of places) this.#note(place, tier, factor);
  }

  /** Notes those that are known already. @returns the others */
  takeKnown(places: readonly number[], tier: number, factor: number): readonly number[] {
    if (!places.some((place) => this.#best.has(place))) return places;
    return places.filter((place) => {
      if (!this.#best.has(place)) return true;
      this.#note(place, tier, factor);
      return false;
    });
  }

  each(visit: (tier: number, factor: number, places: readonly number[]) => void): void {
    const groups = new Map<number, number[]>();
    for (const [place, role] of this.#best) {
      const places = groups.get(role);
      if (places === undefined) groups.set(role, [place]);
      else places.push(place);
    }
    for (const [role, places] of groups) {
      visit(Math.floor(role / roles), roles - 1 - (role % roles), places);
    }
  }

  #note(place: number, tier: number, factor: number): void {
    const role = tier * roles + roles - 1 - factor;
    const known = this.#best.get(place);
    if (known === undefined || role < known) this.#best.set(place, role);
  }
}

/** More than any factor. */
const roles = 32;
