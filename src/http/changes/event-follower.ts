/**
 * One client that follows the feed by server-sent events. Nothing is buffered for a client that does not read: only the
 * position after the last event sent is kept, and reading continues there.
 */
import { eventsPageMax } from '../../contract/limits.ts';
import type { Follower, LiveFeed } from '../../feed/live-feed.ts';
import type { LiveFeeds } from '../../feed/live-feeds.ts';
import type { Position } from '../../feed/offset.ts';
import type { SerializedPage } from '../../feed/serialized-page.ts';
import type { EventStream } from '../uws/event-streams.ts';

/** @returns function to call when the stream is over */
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
  /** It was notified of changes that were not sent. */
  #isBehind = false;

  constructor(
    private readonly feeds: LiveFeeds,
    private readonly live: LiveFeed,
    private readonly stream: EventStream,
    /** After the last change that was sent. */
    private position: Position,
  ) {}

  join(): void {
    if (!this.stream.isOver) this.feeds.join(this.live, this, this.position);
  }

  receive(page: SerializedPage): void {
    const sent = this.#send(page);
    if (this.stream.isBlocked && sent < page.pieces.length) this.#holdBack(page.pieces.slice(sent));
  }

  isFarBehind(): void {
    this.#catchUp().catch(() => this.stream.end());
  }

  failed(): void {
    this.stream.end();
  }

  /** @returns number of pieces that were sent */
  #send({ pieces }: SerializedPage): number {
    for (const [at, { bytes, position }] of pieces.entries()) {
      if (this.stream.isBlocked || this.stream.isOver) return at;
      this.stream.send(bytes);
      this.position = position;
    }
    return pieces.length;
  }

  #holdBack(pieces: SerializedPage['pieces']): void {
    if (!this.#isBehind) void this.stream.taken().then(() => this.#comeBack());
    this.#isBehind = true;
    this.stream.heldBack(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0));
  }

  #comeBack(): void {
    this.#isBehind = false;
    this.live.leave(this);
    this.join();
  }

  /** Reads page by page, as fast as the client does, until at most one page is left. */
  async #catchUp(): Promise<void> {
    while (!this.stream.isOver) {
      const page = await this.live.next(this.position, eventsPageMax);
      if (page.isUpToDate) break;
      this.#send(page);
      await this.stream.taken();
    }
    this.join();
  }
}
