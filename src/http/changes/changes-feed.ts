/** `GET /changes/v1`: the changes of an environment, as a page, by long-polling, or as events (docs/reference/http.md "Changes"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { changesPageMax, eventsPageMax, longPollMs } from '../../contract/limits.ts';
import type { Feed } from '../../feed/feed.ts';
import {
  type Expand,
  FeedClosedError,
  type Follower,
  type LiveFeed,
  type Since,
} from '../../feed/live-feed.ts';
import type { LiveFeeds } from '../../feed/live-feeds.ts';
import { OffsetGoneError } from '../../feed/log-page.ts';
import type { Position } from '../../feed/offset.ts';
import type { SerializedPage } from '../../feed/serialized-page.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import { type Answer, acceptsEvents, eventsAnswer, jsonType } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { requestedEnvironment } from '../management/request-values.ts';
import { requestedText, waitForRequestedVersion } from '../request-parameters.ts';
import { scopeOf } from '../routes/route-parts.ts';
import type { Services } from '../services.ts';
import type { EventStream } from '../uws/event-streams.ts';

interface ChangesRequest {
  readonly mode: 'once' | 'long-poll' | 'sse';
  readonly expand: Expand;
  readonly since: Since;
}

/** @throws ProblemError 422 for an invalid parameter, 410 for an offset that this environment did not issue */
function changesRequest(call: Call, feed: Feed): ChangesRequest {
  const live = oneOf(call, 'live', ['long-poll', 'sse']);
  const expand = oneOf(call, 'expand', ['shown']);
  const since = requestedText(call, 'since') ?? '';
  const asked = call.header('last-event-id') || since;
  const asksForEvents = live === 'sse' || (live === null && acceptsEvents(call.header('accept')));
  return {
    mode: asksForEvents ? 'sse' : live === 'long-poll' ? 'long-poll' : 'once',
    expand: expand ?? 'nothing',
    since: sinceOf(asked, feed),
  };
}

/** A query parameter with one of these values, or null. */
function oneOf<Choice extends string>(call: Call, name: string, choices: readonly Choice[]): Choice | null {
  const text = requestedText(call, name);
  const choice = choices.find((one) => one === text);
  if (text === null || choice !== undefined) return choice ?? null;
  throw new ProblemError(problems.parameterInvalid(name, `must be ${choices.join(' or ')}`));
}

function sinceOf(asked: string, feed: Feed): Since {
  if (asked === '') return 'beginning';
  if (asked === 'now') return 'now';
  const position = feed.positionOf(asked);
  if (position === null) throw new ProblemError(problems.offsetGone);
  return position;
}

/** @throws ProblemError 410, 422, `versionNotReached`; StoreUnavailableError */
export function changesFeed(services: Services): Handler {
  return feedOf(services, (call) => scopeOf(call.client));
}

/** The same feed for management clients, which name the environment (docs/reference/management.md "Changes"). */
export function managementChanges(services: Services): Handler {
  return feedOf(services, (call) => ({
    tenant: call.manager.tenant.alias,
    environmentId: requestedEnvironment(call).id,
  }));
}

function feedOf(services: Services, scopeOfCall: (call: Call) => EnvironmentScope): Handler {
  return async (call) => {
    const scope = scopeOfCall(call);
    const { mode, expand, since } = changesRequest(call, services.feeds.of(scope).feed);
    const live = services.feeds.of(scope, expand);
    const { current } = services.configuration;
    await waitForRequestedVersion(services, call, scope.tenant);
    try {
      if (mode === 'sse') return await followedAnswer(services.feeds, live, since);
      const from = typeof since === 'string' ? await live.start(since) : since;
      const page = await nextChanges(live, from);
      // Under a new configuration the key may no longer be allowed to follow the feed.
      const mayWait = mode === 'long-poll' && services.configuration.current === current;
      if (!mayWait || page.changes.length > 0) return changesAnswer(page);
      return changesAnswer(await firstChanges(services.feeds, live, page, call));
    } catch (error) {
      throw problemOf(error);
    }
  };
}

/** The next page with changes, or an empty one if there are none. Entries without a current change are skipped. */
async function nextChanges(live: LiveFeed, from: Position): Promise<SerializedPage> {
  for (let position = from; ; ) {
    const page = await live.next(position, changesPageMax);
    if (page.changes.length > 0 || page.isUpToDate) return page;
    position = page.position;
  }
}

/**
 * Waits for the next changes. An empty page after `longPollMs`, or when the client disconnects.
 * @param latest the empty page so far
 */
function firstChanges(
  feeds: LiveFeeds,
  live: LiveFeed,
  latest: SerializedPage,
  call: Call,
): Promise<SerializedPage> {
  const from = latest.position;
  return new Promise((resolve, reject) => {
    let empty = latest;
    const finish = (page: SerializedPage) => {
      clearTimeout(timer);
      live.leave(follower);
      resolve(page);
    };
    const follower = {
      receive: (page: SerializedPage) => {
        empty = page;
        if (page.changes.length > 0) finish(page);
      },
      isFarBehind: () => nextChanges(live, from).then(finish, reject),
      failed: (error: unknown) => {
        clearTimeout(timer);
        if (error instanceof FeedClosedError) finish(empty);
        else reject(error);
      },
    };
    const timer = setTimeout(() => finish(empty), longPollMs);
    feeds.join(live, follower, from);
    call.onGone(() => finish(empty));
  });
}

function changesAnswer({ json }: SerializedPage): Answer {
  return { status: 200, body: json, contentType: jsonType };
}

async function followedAnswer(feeds: LiveFeeds, live: LiveFeed, since: Since): Promise<Answer> {
  const from = await live.start(since);
  return eventsAnswer((stream) => followEvents(feeds, live, from, stream));
}

function problemOf(error: unknown): unknown {
  if (error instanceof OffsetGoneError) return new ProblemError(problems.offsetGone);
  return error;
}

/** @returns function to call when the stream is over */
function followEvents(feeds: LiveFeeds, live: LiveFeed, from: Position, stream: EventStream): () => void {
  const follower = new EventFollower(feeds, live, stream, from);
  follower.join();
  return () => live.leave(follower);
}

/**
 * One client that follows the feed by server-sent events. Nothing is buffered for a client that does not read: only the
 * position after the last event sent is kept, and reading continues there.
 */
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
