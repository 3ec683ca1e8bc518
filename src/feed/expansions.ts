/**
 * Adds to changes where else their views are shown, for all readers of a process. This can take a second for a view that very
 * many views include. So results are cached for a while, for all readers and offsets, and readers take turns.
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
import { viewIdentity } from '../store/keys.ts';
import type { Feed, FeedChange, FeedPage } from './feed.ts';
import type { Position } from './offset.ts';
import type { FoundPlaces } from './shown-on.ts';

interface Found {
  readonly places: FoundPlaces;
  readonly characters: number;
  readonly atMs: number;
}

/** Overhead of a cached place, in characters. */
const placeCharacters = 32;

export class Expansions {
  /** Turns per tenant. If too many pages of a tenant wait, further ones are `unavailable`. */
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
  readonly #running = new Map<string, Promise<FoundPlaces>>();

  /**
   * Adds to the changes of a page where else their views are delivered. The page ends early if that is much work, but never at
   * the position where it begins.
   * @throws StoreUnavailableError
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
   * The places at some time after the change. A view that includes this one since then has its own later change, so a reader of
   * this change gets that one too.
   */
  #placesOf(feed: Feed, { view, sequence }: FeedChange): Promise<FoundPlaces> {
    const name = `${logField(feed.scope)} ${sequence} ${viewIdentity(view)}`;
    const found = this.#found.get(name);
    if (found !== undefined && performance.now() - found.atMs < shownOnKeptMs) {
      return Promise.resolve(found.places);
    }
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    const finding = this.#find(name, () => feed.placesOf(view)).finally(() => this.#running.delete(name));
    this.#running.set(name, finding);
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
