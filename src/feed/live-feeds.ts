/** The feeds of all environments with readers or followers in this process. */
import { BoundedCache } from '../lib/bounded-cache.ts';
import { logField } from '../store/change-log/logged-views.ts';
import type { EnvironmentScope } from '../store/scopes.ts';
import { Expansions } from './expansions.ts';
import { Feed, type FeedOptions } from './feed.ts';
import { type Expand, type Follower, LiveFeed } from './live-feed.ts';
import type { Position } from './offset.ts';

const quietFeedsMax = 1000;

export class LiveFeeds {
  /** Feeds with followers. A name has several if a feed left the cache between `of` and `join`. */
  readonly #followed = new Map<string, Set<LiveFeed>>();
  readonly #known = new BoundedCache<string, LiveFeed>({ entriesMax: quietFeedsMax });
  readonly #expansions = new Expansions();

  constructor(
    private readonly options: FeedOptions,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Readers that also request where changed views are shown have a separate feed, so that others do not wait for that. */
  of(scope: EnvironmentScope, expand: Expand = 'nothing'): LiveFeed {
    const name = nameOf(scope, expand);
    const [followed] = this.#followed.get(name) ?? [];
    return followed ?? this.#known.getOrCreate(name, () => this.#make(scope, expand));
  }

  #make(scope: EnvironmentScope, expand: Expand): LiveFeed {
    return new LiveFeed(new Feed(this.options, scope), expand, this.#expansions, this.onError);
  }

  /** Like `LiveFeed.join`; from then on the feed is notified of changes. */
  join(live: LiveFeed, follower: Follower, position: Position): void {
    const name = nameOf(live.feed.scope, live.expand);
    this.#followed.set(name, (this.#followed.get(name) ?? new Set()).add(live));
    live.join(follower, position);
  }

  /** Something may have changed in any environment. */
  changed(): void {
    for (const [name, feeds] of this.#followed) {
      for (const feed of feeds) {
        if (feed.followers === 0) feeds.delete(feed);
        else feed.changed();
      }
      if (feeds.size === 0) this.#followed.delete(name);
    }
  }

  get followers(): number {
    return this.#followedFeeds().reduce((sum, { followers }) => sum + followers, 0);
  }

  /** Disconnects all followers, which then reconnect. */
  endAll(): void {
    for (const feed of this.#followedFeeds()) feed.endAll();
  }

  close(): void {
    for (const feed of this.#followedFeeds()) feed.close();
  }

  #followedFeeds(): LiveFeed[] {
    return [...this.#followed.values()].flatMap((feeds) => [...feeds]);
  }
}

function nameOf(scope: EnvironmentScope, expand: Expand): string {
  return `${logField(scope)} ${expand}`;
}
