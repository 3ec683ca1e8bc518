import type { Ids } from '../api/answers.ts';

/** A reason why views change with a view, and these views. */
export interface Reason {
  readonly about: string;
  readonly ids: Ids;
}

export interface ListedReason extends Reason {
  /** Number of its views that are listed under an earlier reason. */
  readonly above: number;
}

/**
 * The reasons with any views, each without views that are listed under an earlier one.
 * @param shownMax maximum number of listed views per reason
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
