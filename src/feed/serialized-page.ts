/** Serializes a page of changes once for all followers. */
import type { Feed, FeedChange, FeedPage } from './feed.ts';
import type { Position } from './offset.ts';

/** A piece of an event stream ends after this many characters. A connection that does not read buffers at most one piece. */
const pieceCharacters = 16 * 1024;

/** Events, and the position of a follower after them. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly position: Position;
}

export class SerializedPage {
  #pieces: readonly Piece[] | null = null;
  #json: Uint8Array | null = null;

  constructor(
    private readonly feed: Pick<Feed, 'offsetOf'>,
    private readonly page: FeedPage,
  ) {}

  get changes(): readonly FeedChange[] {
    return this.page.changes;
  }

  get position(): Position {
    return this.page.position;
  }

  get isUpToDate(): boolean {
    return this.page.isUpToDate;
  }

  /** As server-sent events. */
  get pieces(): readonly Piece[] {
    this.#pieces ??= this.#serialize();
    return this.#pieces;
  }

  /** As a response body. */
  get json(): Uint8Array {
    const { changes, position, isUpToDate } = this.page;
    this.#json ??= Buffer.from(
      JSON.stringify({
        changes: changes.map(({ change }) => change),
        offset: this.feed.offsetOf(position),
        upToDate: isUpToDate,
      }),
    );
    return this.#json;
  }

  #serialize(): Piece[] {
    const { changes, position, isUpToDate } = this.page;
    const pieces: Piece[] = [];
    let text = '';
    for (const entry of changes) {
      text += eventText(this.feed.offsetOf(entry.position), 'change', JSON.stringify(entry.change));
      if (text.length < pieceCharacters) continue;
      pieces.push({ bytes: Buffer.from(text), position: entry.position });
      text = '';
    }
    if (isUpToDate) text += eventText(this.feed.offsetOf(position), 'up-to-date', '{}');
    if (text !== '') pieces.push({ bytes: Buffer.from(text), position });
    return pieces;
  }
}

/** A server-sent event (HTML standard). @param data without line breaks */
function eventText(id: string, event: string, data: string): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
}
