/**
 * One client that follows the feed by server-sent events. Nothing is kept for a client that does not read: it is at
 * the position after what its connection was given, and reads on from there.
 */
import { eventsPageMax } from '../../contract/limits.ts';
import type { Follower, LiveFeed } from '../../feed/live-feed.ts';
import type { LiveFeeds } from '../../feed/live-feeds.ts';
import type { Position } from '../../feed/offset.ts';
import type { WrittenPage } from '../../feed/written-page.ts';
import type { EventStream } from '../uws/event-streams.ts';

/** @returns called when the stream is over */
export function followEvents(
  feeds: LiveFeeds,
  live: LiveFeed,
  from: Position,
  stream: EventStream,
): () => void {
  const follower = new EventFollower(feeds, live, stream, from);
  follower.join();
  return () => live.leave(follower);
}

class EventFollower implements Follower {
  /** It was notified of changes that its connection was not given. */
  #isBehind = false;

  constructor(
    private readonly feeds: LiveFeeds,
    private readonly live: LiveFeed,
    private readonly stream: EventStream,
    /** After what the connection was given. */
    private position: Position,
  ) {}

  join(): void {
    if (!this.stream.isOver) this.feeds.join(this.live, this, this.position);
  }

  receive(page: WrittenPage): void {
    const given = this.#give(page);
    if (this.stream.isBlocked && given < page.pieces.length) this.#holdBack(page.pieces.slice(given));
  }

  isFarBehind(): void {
    this.#catchUp().catch(() => this.stream.end());
  }

  failed(): void {
    this.stream.end();
  }

  /** @returns how many pieces the connection was given */
  #give({ pieces }: WrittenPage): number {
    for (const [at, { bytes, position }] of pieces.entries()) {
      if (this.stream.isBlocked || this.stream.isOver) return at;
      this.stream.send(bytes);
      this.position = position;
    }
    return pieces.length;
  }

  #holdBack(pieces: WrittenPage['pieces']): void {
    if (!this.#isBehind) void this.stream.taken().then(() => this.#comeBack());
    this.#isBehind = true;
    this.stream.heldBack(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0));
  }

  #comeBack(): void {
    this.#isBehind = false;
    this.live.leave(this);
    this.join();
  }

  /** Reads page by page, at the pace of the client, until the rest is no more than a page. */
  async #catchUp(): Promise<void> {
    while (!this.stream.isOver) {
      const page = await this.live.next(this.position, eventsPageMax);
      if (page.isUpToDate) break;
      this.#give(page);
      await this.stream.taken();
    }
    this.join();
  }
}
