/** Finds where views are delivered because other views refer to them, at any depth (docs/reference/http.md "Changes"). */

import { shownOnMax, shownReferencesMax } from '../contract/limits.ts';
import { portions } from '../lib/lists.ts';
import type { LogReader } from '../store/change-log/entries.ts';
import type { LoggedView } from '../store/change-log/logged-views.ts';
import {
  type Reference,
  readReferences,
  readReferrers,
  referenceText,
} from '../store/change-log/references.ts';
import { viewIdentity } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import { readViewStates, type ViewState } from './view-states.ts';

/** Number of views per round trip. */
const viewsPerRead = 250;

/** Where else a view is delivered, because other views refer to it. */
export interface ShownOn {
  /** URLs, else handles, of views that refer to it, at any depth. */
  readonly shownOn: readonly string[];
  /** Number of further ones; absent: none. */
  readonly shownOnMore?: number;
}

/** Where a view is shown, and how many references were followed to find it. */
export interface FoundPlaces {
  readonly places: ShownOn;
  readonly followed: number;
}

/** Follows references breadth-first up to the limit. @throws StoreUnavailableError */
export async function readShownOn(store: Store, log: LogReader, view: LoggedView): Promise<FoundPlaces> {
  const places = new Set<string>();
  const seen = new Set([viewIdentity(view)]);
  let followed = 0;
  let level: readonly LoggedView[] = [view];
  while (level.length > 0 && followed < shownReferencesMax) {
    const next: LoggedView[] = [];
    for await (const references of readReferences(store, log.scope, level)) {
      followed += references.length;
      const unseen = references.filter(({ referrer }) => !seen.has(viewIdentity(referrer)));
      for await (const { view: referrer, served } of statesOf(store, log, unseen)) {
        if (seen.has(viewIdentity(referrer))) continue;
        seen.add(viewIdentity(referrer));
        next.push(referrer);
        for (const place of [...served.urls, ...served.handles]) places.add(place);
      }
      if (followed >= shownReferencesMax) break;
    }
    level = next;
  }
  return { places: firstOf(places), followed };
}

function firstOf(places: ReadonlySet<string>): ShownOn {
  const shownOn = [...places].slice(0, shownOnMax);
  const more = places.size - shownOn.length;
  return more === 0 ? { shownOn } : { shownOn, shownOnMore: more };
}

/** The views that refer to a view now. @throws StoreUnavailableError */
export async function* referrersOf(
  store: Store,
  log: LogReader,
  target: LoggedView,
): AsyncGenerator<ViewState> {
  for await (const found of readReferrers(store, log.scope, target)) {
    yield* statesOf(
      store,
      log,
      found.map((referrer) => ({ referrer, target })),
    );
  }
}

/** The states of the referrers that still refer to their targets. */
async function* statesOf(
  store: Store,
  log: LogReader,
  references: readonly Reference[],
): AsyncGenerator<ViewState> {
  for (const group of portions(references, viewsPerRead)) {
    const states = await readViewStates(
      store,
      log,
      group.map(({ referrer }) => referrer),
      0,
    );
    for (const [at, { target }] of group.entries()) {
      const state = states[at] ?? null;
      if (state?.isThere && state.references.includes(referenceText(state.view, target))) yield state;
    }
  }
}
