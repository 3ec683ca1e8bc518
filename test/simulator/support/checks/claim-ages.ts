/**
 * Tracks since when pages have their URLs, by the order of the requests: of two pages with the same URL, the later one must be
 * served.
 */
import type { SourceEntity } from '../../../../src/contract/entity.ts';

/** Positions in the order of all requests. */
export interface Since {
  readonly first: number;
  /** Greater than `first` if the position is not exactly known. */
  readonly last: number;
}

/** Greater than the number of entities in any request. */
const perRequest = 10;

export class ClaimAges {
  readonly #since = new Map<string, Since>();
  #requests = 0;
  #sent = 0;
  #isExact = true;

  /** @param isExact false if parts of the request may have been processed before the rest */
  beginRequest(isExact: boolean): void {
    this.#requests += 1;
    this.#sent = 0;
    this.#isExact = isExact;
  }

  save(before: SourceEntity | undefined, { originId, url, type, times }: SourceEntity): void {
    this.#sent += 1;
    if (times !== undefined || before?.times !== undefined) {
      // The age depends on a publication time, which has no position in the order of requests.
      this.#since.set(originId, { first: 0, last: Number.POSITIVE_INFINITY });
      return;
    }
    const begin = this.#requests * perRequest;
    const now = this.#isExact
      ? { first: begin + this.#sent, last: begin + this.#sent }
      : { first: begin, last: begin + perRequest - 1 };
    const known = this.#since.get(originId);
    if (before === undefined || known === undefined || before.url !== url) this.#since.set(originId, now);
    // An entity that was not a page in between may have become one again before that was processed.
    else if (before.type !== type) this.#since.set(originId, { first: known.first, last: now.last });
  }

  of(originId: string): Since | undefined {
    return this.#since.get(originId);
  }
}
