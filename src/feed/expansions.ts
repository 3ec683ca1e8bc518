/**
 * Says of changes where else their views are shown, for all readers of a process. Finding that out can take a second for one view
 * that very many show. So what was found is reported again for a while, for anyone and any offset, and readers take turns.
 */
import { isDeepStrictEqual } from 'node:util';
import { ProblemError, problems } from '../contract/errors.ts';
import {
  expansionsMax,
  expansionsOfTenantMax,
  expansionsWaitingMax,
  shownOnKeptCharactersMax,
  shownOnKeptMs,
  shownReferencesMax,
} from '../contract/limits.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { Turns } from '../lib/turns.ts';
import { logField } from '../store/change-log/logged-views.ts';
import type { Feed, FeedChange, FeedPage } from './feed.ts';
import type { Position } from './offset.ts';
import type { FoundPlaces } from './shown-on.ts';
import { viewName } from './view-states.ts';

interface Found {
  readonly places: FoundPlaces;
  readonly characters: number;
  readonly atMs: number;
}

/** Characters that a place counts besides its own. */
const placeCharacters = 32;

export class Expansions {
  /** Tenants are the owners. Where too many pages of one wait, more are `unavailable`. */
  readonly turns = new Turns({
    atOnceMax: expansionsMax,
    ofOwnerMax: expansionsOfTenantMax,
    waitingMax: expansionsWaitingMax,
    refusal: () => new ProblemError(problems.unavailable),
  });
  readonly #found = new BoundedCache<string, Found>({
    entriesMax: Number.POSITIVE_INFINITY,
    weightMax: shownOnKeptCharactersMax,
    weigh: ({ characters }) => characters,
  });
  readonly #underWay = new Map<string, Promise<FoundPlaces>>();

  /**
   * A page whose changes say where else their views are delivered. It ends early when that is much work, but after the
   * position at which it begins. @throws StoreUnavailableError
   */
  async expanded(feed: Feed, page: FeedPage, from: Position): Promise<FeedPage> {
    const changes: FeedChange[] = [];
    let work = 0;
    for (const entry of page.changes) {
      const { places, followed } = await this.#placesOf(feed, entry);
      changes.push({ ...entry, change: { ...entry.change, ...places } });
      work += followed;
      if (work >= shownReferencesMax && !isDeepStrictEqual(entry.position, from)) break;
    }
    if (changes.length === page.changes.length) return { ...page, changes };
    return { changes, position: changes.at(-1)?.position ?? from, isUpToDate: false };
  }

  /**
   * As it was at some time after the change. A view that came to show this one later than that has a change of its own behind
   * this change, so a reader that gets this one gets that one too.
   */
  #placesOf(feed: Feed, { view, sequence }: FeedChange): Promise<FoundPlaces> {
    const name = `${logField(feed.scope)} ${sequence} ${viewName(view)}`;
    const found = this.#found.get(name);
    if (found !== undefined && performance.now() - found.atMs < shownOnKeptMs) {
      return Promise.resolve(found.places);
    }
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const finding = this.#find(name, () => feed.placesOf(view)).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, finding);
    return finding;
  }

  async #find(name: string, find: () => Promise<FoundPlaces>): Promise<FoundPlaces> {
    const atMs = performance.now();
    const places = await find();
    const characters = places.places.shownOn.reduce(
      (sum, place) => sum + place.length + placeCharacters,
      name.length,
    );
    this.#found.set(name, { places, characters, atMs });
    return places;
  }
}
