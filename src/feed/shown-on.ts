/** Where views are delivered because other views refer to them, at any depth (docs/reference/http.md "Changes"). */
import { shownOnMax } from '../contract/limits.ts';
import type { LogReader } from '../store/change-log/entries.ts';
import type { LoggedView } from '../store/change-log/views.ts';
import { readReferrers, referenceText } from '../store/derived/references.ts';
import type { Store } from '../store/store.ts';
import type { ShownOn } from './change.ts';
import { readViewStates, type ViewState, viewName } from './view-states.ts';

/** Views that are looked at in one round trip. */
const viewsPerRead = 500;

/** @throws StoreUnavailableError */
export async function readShownOn(store: Store, log: LogReader, view: LoggedView): Promise<ShownOn> {
  const places = new Set<string>();
  const met = new Set([viewName(view)]);
  for (let level: readonly LoggedView[] = [view]; level.length > 0; ) {
    const next: LoggedView[] = [];
    for (const target of level) {
      for await (const state of referrersOf(store, log, target)) {
        if (met.has(viewName(state.view))) continue;
        met.add(viewName(state.view));
        next.push(state.view);
        const { urls, handles } = state.served;
        for (const place of [...urls, ...handles]) places.add(place);
      }
    }
    level = next;
  }
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
    for (let at = 0; at < found.length; at += viewsPerRead) {
      const states = await readViewStates(store, log, found.slice(at, at + viewsPerRead), 0);
      for (const state of states) {
        if (state?.isThere && state.references.includes(referenceText(state.view, target))) yield state;
      }
    }
  }
}
