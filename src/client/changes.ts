/** Follows the change feed, by server-sent events or by long-polling. */
import { type Connection, errorOf, MillraceError, pause } from './connection.ts';
import { eventsOf, withinTime } from './events.ts';
import type { Change } from './types.ts';

export interface ChangesOptions {
  /** An offset, or `now`; absent: first everything that exists, then the changes. */
  readonly since?: string;
  /** `shown`: each change lists in `shownOn` where else the view is delivered. */
  readonly expand?: 'shown';
  /** `long-poll` if a runtime or a proxy cannot stream responses; default `sse`. */
  readonly live?: 'sse' | 'long-poll';
  readonly signal?: AbortSignal;
}

/** A change, or null if only the offset has moved. */
interface Step {
  readonly change: Change | null;
  /** Offset to continue from. */
  readonly place: string;
}

/** The platform sends something every 15 s, and answers a long-poll after 30 s. */
const silenceMs = 45_000;

export async function* changesOf(
  connection: Connection,
  { since, live = 'sse', expand, signal }: ChangesOptions = {},
): AsyncGenerator<Change> {
  const steps = live === 'sse' ? eventSteps : pollSteps;
  let place = since;
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const step of steps(connection, { since: place, expand, signal })) {
        failures = 0;
        place = step.place;
        if (step.change !== null) yield step.change;
      }
    } catch (error) {
      if (signal?.aborted) return;
      // Client errors are final. After a broken connection, or if the platform is busy, try again.
      if (error instanceof MillraceError && isRefusal(error.status)) throw error;
    }
    if (signal?.aborted) return;
    await pause(connection.backoffMs(Math.min(failures, 8)), signal).catch(() => {});
  }
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

interface FeedRequest {
  readonly since: string | undefined;
  readonly expand: 'shown' | undefined;
  readonly signal: AbortSignal | undefined;
  readonly live?: 'long-poll';
}

function feedPath({ since, expand, live }: FeedRequest): string {
  const members = Object.entries({ since, expand, live }).filter(([, value]) => value !== undefined);
  const query = members.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&');
  return `/changes/v1${query === '' ? '' : '?'}${query}`;
}

/** The changes of one connection, until it is closed. */
async function* eventSteps(connection: Connection, request: FeedRequest): AsyncGenerator<Step> {
  const { body } = await connection.open({
    path: feedPath(request),
    headers: { Accept: 'text/event-stream' },
    ...(request.signal !== undefined && { signal: request.signal }),
  });
  if (body === null) throw errorOf(0, { message: 'the response has no body' });
  let place = request.since ?? '';
  for await (const { event, id, data } of eventsOf(body, silenceMs)) {
    place = id === '' ? place : id;
    yield { change: event === 'change' ? { ...(JSON.parse(data) as Change), offset: id } : null, place };
  }
}

interface Page {
  readonly changes: readonly Omit<Change, 'offset'>[];
  readonly offset: string;
}

/** The changes of successive requests. */
async function* pollSteps(connection: Connection, request: FeedRequest): AsyncGenerator<Step> {
  let place = request.since ?? '';
  if (place === 'now') {
    place = (await pageOf(connection, request)).offset;
    yield { change: null, place };
  }
  for (;;) {
    const { changes, offset } = await pageOf(connection, { ...request, since: place, live: 'long-poll' });
    for (const [at, change] of changes.entries()) {
      // Only the end of a page has an offset. Clients that continue from an earlier change receive the page again.
      const passed = at === changes.length - 1 ? offset : place;
      yield { change: { ...change, offset: passed }, place: passed };
    }
    place = offset;
    yield { change: null, place };
  }
}

async function pageOf(connection: Connection, request: FeedRequest): Promise<Page> {
  const stop = new AbortController();
  const onAbort = () => stop.abort(request.signal?.reason);
  request.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    request.signal?.throwIfAborted();
    const reply = connection.read<Page>({ path: feedPath(request), signal: stop.signal });
    const response = await withinTime(reply, silenceMs);
    if (response === null) throw errorOf(0, { message: 'no response in time' });
    return response.body;
  } finally {
    request.signal?.removeEventListener('abort', onAbort);
    stop.abort();
  }
}
