/** The feeds of all environments with readers or followers in this process. */
import { BoundedCache } from '../lib/bounded-cache.ts';
import { logField } from '../store/change-log/logged-views.ts';
import type { EnvironmentScope } from '../store/environment-scope.ts';
import { Expansions } from './expansions.ts';
import { Feed, type FeedOptions } from './feed.ts';
import { type Expand, type Follower, LiveFeed } from './live-feed.ts';
import type { Position } from './offset.ts';

const quietFeedsMax = 1000;

export class LiveFeeds {
  /** Feeds with followers. */
  readonly #followed = new Map<string, LiveFeed>();
  readonly #known = new BoundedCache<string, LiveFeed>({ entriesMax: quietFeedsMax });

  readonly #expansions = new Expansions();

  constructor(
    private readonly options: FeedOptions,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Readers that request the places of changed views have a separate feed, so that others do not wait for that. */
  of(scope: EnvironmentScope, expand: Expand = 'nothing'): LiveFeed {
    const name = nameOf(scope, expand);
    return this.#followed.get(name) ?? this.#known.getOrCreate(name, () => this.#make(scope, expand));
  }

  #make(scope: EnvironmentScope, expand: Expand): LiveFeed {
    return new LiveFeed(new Feed(this.options, scope), expand, this.#expansions, this.onError);
  }

  /** Like `LiveFeed.join`; from then on the feed is notified of changes. */
  join(live: LiveFeed, follower: Follower, position: Position): void {
    this.#followed.set(nameOf(live.feed.scope, live.expand), live);
    live.join(follower, position);
  }

  /** Something may have changed in any environment. */
  changed(): void {
    for (const [name, feed] of this.#followed) {
      if (feed.followers === 0) this.#followed.delete(name);
      else feed.changed();
    }
  }

  get followers(): number {
    return [...this.#followed.values()].reduce((sum, { followers }) => sum + followers, 0);
  }

  /** Disconnects all followers, which then reconnect. */
  endAll(): void {
    for (const feed of this.#followed.values()) feed.endAll();
  }

  close(): void {
    for (const feed of this.#followed.values()) feed.close();
  }
}

function nameOf(scope: EnvironmentScope, expand: Expand): string {
  return `${logField(scope)} ${expand}`;
}
