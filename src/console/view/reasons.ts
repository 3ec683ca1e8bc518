import type { Ids } from '../api/answers.ts';

/** Why views change with a view, and which. */
export interface Reason {
  readonly about: string;
  readonly ids: Ids;
}

export interface ListedReason extends Reason {
  /** How many views of this reason an earlier one lists. */
  readonly above: number;
}

/**
 * The reasons that any view has, each without the views that an earlier one lists.
 * @param shownMax how many views of one reason are listed
 */
export function listedOnce(reasons: readonly Reason[], shownMax: number): ListedReason[] {
  const listed = new Set<string>();
  return reasons
    .filter(({ ids }) => ids.total > 0)
    .map(({ about, ids: { total, views } }) => {
      const own = views.filter((id) => !listed.has(id));
      for (const id of own.slice(0, shownMax)) listed.add(id);
      return { about, ids: { total, views: own }, above: views.length - own.length };
    });
}
