/**
 * The followers of one environment's feed in one process. All of them are at the same position, the head. A single reader reads
 * on from it, and every change is read and serialized once for all of them (docs/design/changes.md "Followers").
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { changesPageMax, sliceMs } from '../contract/limits.ts';
import { groupBy } from '../lib/lists.ts';
import { SharedReads } from '../lib/shared-promises.ts';
import type { Expansions } from './expansions.ts';
import type { Feed } from './feed.ts';
import { OffsetGoneError } from './log-page.ts';
import type { Position } from './offset.ts';
import { SerializedPage } from './serialized-page.ts';

export interface Follower {
  /**
   * Receives the changes since the previous page, or since the position at which it joined. Only the first page may be empty.
   */
  receive(page: SerializedPage): void;
  /** Called if more than a page follows its position. The follower must read that itself and then join again. */
  isFarBehind(): void;
  /** The feed has ended for this follower. */
  failed(error: unknown): void;
}

/** The form of changes: plain, or with the other places that show the view. */
export type Expand = 'nothing' | 'shown';

/** Followers must reconnect, because the process ends or they are no longer allowed to follow. */
export class FeedClosedError extends Error {
  override readonly name = 'FeedClosedError';
}

type Joining = readonly [follower: Follower, position: Position];

/** Where a reader begins: with a full copy, at the present, or at a given position. */
export type Since = 'beginning' | 'now' | Position;

/** Minimum time between two reads, so that commits in quick succession are read together. The first is read immediately. */
const gatherMs = 5;
const retryMs = 200;
/** If joining takes longer than this, existing followers get new changes first. */
const joiningMs = 50;

export class LiveFeed {
  readonly #followers = new Set<Follower>();
  readonly #joining = new Map<Follower, Position>();
  readonly #starts = new SharedReads<Position>();
  readonly #pages = new SharedReads<SerializedPage>();
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
    private readonly onError: (error: unknown) => void,
  ) {}

  get followers(): number {
    return this.#followers.size + this.#joining.size;
  }

  /**
   * The position at which a reader starts; no removal after it has been dropped.
   * @throws OffsetGoneError, StoreUnavailableError
   */
  start(since: Since): Promise<Position> {
    const { feed } = this;
    if (since === 'beginning') return this.#starts.get(since, () => feed.beginning());
    if (since === 'now') return this.#starts.get(since, () => feed.end());
    return this.#starts.get(positionName(since), () => feed.check(since).then(() => since));
  }

  /**
   * The next changes after a position. Concurrent calls share a read.
   * @throws like `Feed.page`; ProblemError `unavailable` if too many pages with `shown` wait
   */
  next(from: Position, limit: number): Promise<SerializedPage> {
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

  /** Disconnects all current followers. */
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
          // The store no longer has the state that the followers have seen.
          this.#head = null;
          this.#failAll(error);
          continue;
        }
        this.#isDirty = true;
        this.onError(error);
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
    // These followers were read before this step, so their positions are not after the new head.
    const joining = [...this.#joining];
    const head = await this.#moveHead();
    if (head !== null && joining.length > 0) await this.#admit(head, joining);
  }

  /** @returns the head; null if more changes follow it */
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

  async #readInTurn(from: Position, limit: number): Promise<SerializedPage> {
    if (this.expand === 'nothing') return this.#read(from, limit, null);
    const end = await this.expansions.turns.turn(this.feed.scope.tenant);
    try {
      return await this.#read(from, limit, null);
    } finally {
      end();
    }
  }

  async #read(from: Position, limit: number, until: Position | null): Promise<SerializedPage> {
    const page = await this.feed.page(from, limit, until);
    return new SerializedPage(
      this.feed,
      this.expand === 'shown' ? await this.expansions.expanded(this.feed, page, from) : page,
    );
  }

  async #admit(head: Position, joining: readonly Joining[]): Promise<void> {
    const startMs = performance.now();
    for (const group of groupsOf(joining)) {
      const [first] = group;
      if (first !== undefined) await this.#admitAt(head, first[1], group);
      if (this.#isDirty && performance.now() - startMs > joiningMs) return;
    }
  }

  async #admitAt(head: Position, from: Position, group: readonly Joining[]): Promise<void> {
    let page: SerializedPage;
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

  /** Removes the group from `#joining`. @returns the followers that have not left meanwhile */
  #stillJoining(group: readonly Joining[]): Follower[] {
    return group.flatMap(([follower, position]) => {
      if (this.#joining.get(follower) !== position) return [];
      this.#joining.delete(follower);
      return [follower];
    });
  }

  async #send(followers: Iterable<Follower>, page: SerializedPage): Promise<void> {
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

/** Groups followers by position. Most of them share the same position object. */
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
