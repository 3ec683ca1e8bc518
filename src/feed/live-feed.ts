/**
 * The followers of one environment's feed in one process. All of them are at one position, the head. One reader takes
 * what is after it, and every change is read and written once for all (docs/design/changes.md "Followers").
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { changesPageMax, sliceMs } from '../contract/limits.ts';
import { groupBy } from '../lib/lists.ts';
import { SharedReads } from '../lib/shared-promises.ts';
import type { Expansions } from './expansions.ts';
import type { Feed } from './feed.ts';
import { OffsetGoneError } from './log-page.ts';
import type { Position } from './offset.ts';
import { WrittenPage } from './written-page.ts';

export interface Follower {
  /** Changes since the page before, or since the position with which it joined. Never empty but at its joining. */
  receive(page: WrittenPage): void;
  /** There is more after its position than a page. It is to read that by itself, then join again. */
  isFarBehind(): void;
  /** The feed sends nothing more. */
  failed(error: unknown): void;
}

/** The form of each change: the change alone, or with the other places that show its view. */
export type Expand = 'nothing' | 'shown';

/** Followers must reconnect: the process ends, or they may no longer follow. */
export class FeedClosedError extends Error {
  override readonly name = 'FeedClosedError';
}

type Joining = readonly [follower: Follower, position: Position];

/** Where a reader begins: with everything that is there, at the present, or at a position that it was given. */
export type Since = 'beginning' | 'now' | Position;

/** Commits that come shortly one after another are read together: the first immediately, the others not sooner than this. */
const gatherMs = 5;
const retryMs = 200;
/** While others keep joining for longer than this, existing followers get new changes first. */
const joiningMs = 50;

export class LiveFeed {
  readonly #followers = new Set<Follower>();
  readonly #joining = new Map<Follower, Position>();
  readonly #starts = new SharedReads<Position>();
  readonly #pages = new SharedReads<WrittenPage>();
  #head: Position | null = null;
  #isDirty = true;
  #readAtMs = 0;
  #isRunning = false;
  #isClosed = false;
  #wake = () => {};

  constructor(
    readonly feed: Feed,
    /** The form of changes for its readers. */
    readonly expand: Expand,
    private readonly expansions: Expansions,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  get followers(): number {
    return this.#followers.size + this.#joining.size;
  }

  /** Nothing after it is forgotten. @throws OffsetGoneError, StoreUnavailableError */
  start(since: Since): Promise<Position> {
    const { feed } = this;
    if (since === 'beginning') return this.#starts.get(since, () => feed.beginning());
    if (since === 'now') return this.#starts.get(since, () => feed.end());
    return this.#starts.get(positionName(since), () => feed.check(since).then(() => since));
  }

  /**
   * The next changes after a position, read once for all who ask at a time.
   * @throws as `Feed.page`; ProblemError `unavailable` when too many pages wait that say where views are shown
   */
  next(from: Position, limit: number): Promise<WrittenPage> {
    return this.#pages.get(`${limit};${positionName(from)}`, () => this.#readInTurn(from, limit));
  }

  /** Something may have changed. */
  changed(): void {
    this.#isDirty = true;
    this.#wake();
  }

  /** Sends the follower everything after its position. The first page may be empty. */
  join(follower: Follower, position: Position): void {
    if (this.#isClosed) {
      follower.failed(new FeedClosedError('the process ends'));
      return;
    }
    this.#joining.set(follower, position);
    this.#wake();
    if (!this.#isRunning) void this.#run();
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
    this.#joining.delete(follower);
    if (this.followers === 0) this.#wake();
  }

  /** Ends all who follow now. */
  endAll(): void {
    this.#failAll(new FeedClosedError('ended'));
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.endAll();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.followers > 0) {
      try {
        await this.#step();
      } catch (error) {
        if (error instanceof OffsetGoneError) {
          // The store forgot what the followers have seen.
          this.#head = null;
          this.#failAll(error);
          continue;
        }
        this.#isDirty = true;
        this.onTrouble(error);
        await setTimeout(retryMs);
      }
    }
    this.#head = null;
    this.#isDirty = true;
    this.#isRunning = false;
  }

  /** First the head advances, then new followers join at it, so no follower receives anything older than it has seen. */
  async #step(): Promise<void> {
    if (!this.#isDirty && this.#joining.size === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const waitMs = this.#readAtMs + gatherMs - performance.now();
      if (this.#joining.size === 0 && waitMs > 0) await setTimeout(waitMs);
      return;
    }
    // They have read what was there before this step, so the head that comes out of it is not behind them.
    const joining = [...this.#joining];
    const head = await this.#moveHead();
    if (head !== null && joining.length > 0) await this.#takeIn(head, joining);
  }

  /** @returns the head; null when there is more after it */
  async #moveHead(): Promise<Position | null> {
    this.#isDirty = false;
    this.#readAtMs = performance.now();
    if (this.#head === null || this.#followers.size === 0) {
      this.#head = await this.feed.end();
      return this.#head;
    }
    const page = await this.#read(this.#head, changesPageMax, null);
    this.#head = page.position;
    if (page.changes.length > 0) await this.#send(this.#followers, page);
    if (page.isUpToDate) return this.#head;
    this.#isDirty = true;
    return null;
  }

  async #readInTurn(from: Position, limit: number): Promise<WrittenPage> {
    if (this.expand === 'nothing') return this.#read(from, limit, null);
    const end = await this.expansions.turns.turn(this.feed.scope.tenant);
    try {
      return await this.#read(from, limit, null);
    } finally {
      end();
    }
  }

  async #read(from: Position, limit: number, until: Position | null): Promise<WrittenPage> {
    const page = await this.feed.page(from, limit, until);
    return new WrittenPage(
      this.feed,
      this.expand === 'shown' ? await this.expansions.expanded(this.feed, page, from) : page,
    );
  }

  async #takeIn(head: Position, joining: readonly Joining[]): Promise<void> {
    const startMs = performance.now();
    for (const group of groupsOf(joining)) {
      const [first] = group;
      if (first !== undefined) await this.#takeInAt(head, first[1], group);
      if (this.#isDirty && performance.now() - startMs > joiningMs) return;
    }
  }

  async #takeInAt(head: Position, from: Position, group: readonly Joining[]): Promise<void> {
    let page: WrittenPage;
    try {
      page = await this.#read(from, changesPageMax, head);
    } catch (error) {
      if (!(error instanceof OffsetGoneError)) throw error;
      for (const follower of this.#stillJoining(group)) follower.failed(error);
      return;
    }
    const followers = this.#stillJoining(group);
    if (!page.isUpToDate) {
      for (const follower of followers) follower.isFarBehind();
      return;
    }
    for (const follower of followers) this.#followers.add(follower);
    await this.#send(followers, page);
  }

  /** Those of the group that did not leave meanwhile; they no longer join. */
  #stillJoining(group: readonly Joining[]): Follower[] {
    return group.flatMap(([follower, position]) => {
      if (this.#joining.get(follower) !== position) return [];
      this.#joining.delete(follower);
      return [follower];
    });
  }

  async #send(followers: Iterable<Follower>, page: WrittenPage): Promise<void> {
    let sliceStartMs = performance.now();
    for (const follower of [...followers]) {
      if (this.#followers.has(follower)) follower.receive(page);
      if (performance.now() - sliceStartMs < sliceMs) continue;
      await setImmediate();
      sliceStartMs = performance.now();
    }
  }

  #failAll(error: unknown): void {
    const all = [...this.#followers, ...this.#joining.keys()];
    this.#followers.clear();
    this.#joining.clear();
    for (const follower of all) follower.failed(error);
  }
}

/** Those who begin at one position, together. Most of them share the very object. */
function groupsOf(joining: readonly Joining[]): Iterable<Joining[]> {
  const names = new Map<Position, string>();
  const nameOf = (position: Position) => {
    const name = names.get(position) ?? positionName(position);
    names.set(position, name);
    return name;
  };
  return groupBy(joining, ([, position]) => nameOf(position)).values();
}

function positionName({ sequences, copyFrom }: Position): string {
  return `${sequences.join()};${copyFrom?.join() ?? ''}`;
}
