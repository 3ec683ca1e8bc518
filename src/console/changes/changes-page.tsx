import { useEffect, useState } from 'preact/hooks';
import { eventsOf } from '../../client/events.ts';
import type { Change } from '../api/answers.ts';
import { RequestError, send, withParameters } from '../api/request.ts';
import { urlHref } from '../parts/addresses.ts';
import { Time } from '../parts/format.tsx';
import { Empty, ErrorBox, State } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { ViewLink } from '../parts/view-links.tsx';
import { Webhooks } from './webhooks.tsx';

export function ChangesPage() {
  return (
    <>
      <PageHead
        title="Changes"
        about="What changes in the delivered content, as it happens, and the webhooks that receive it."
      />
      <Feed />
      <Webhooks />
    </>
  );
}

/** Number of changes on the page, latest first. */
const shownMax = 100;

function Feed() {
  const { environment } = useTenant();
  const [changes, setChanges] = useState<readonly Change[]>([]);
  const [isLive, setIsLive] = useState(false);
  const [isPaused, setIsPaused] = useState(false);
  const [error, setError] = useState<RequestError | null>(null);
  useEffect(() => {
    if (isPaused) return;
    const stop = new AbortController();
    const follower = {
      onChange: (change: Change) => setChanges((former) => [change, ...former].slice(0, shownMax)),
      onOpen: () => {
        setIsLive(true);
        setError(null);
      },
      onError: (failure: RequestError) => {
        setIsLive(false);
        setError(failure);
      },
    };
    void follow(environment, follower, stop.signal);
    return () => {
      stop.abort();
      setIsLive(false);
    };
  }, [environment, isPaused]);
  return (
    <section>
      <h2>
        Feed{' '}
        <State means={isLive ? 'good' : 'quiet'}>
          {isLive ? 'live' : isPaused ? 'paused' : 'connecting'}
        </State>
      </h2>
      <p class="buttons">
        <button type="button" onClick={() => setIsPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
        <button type="button" disabled={changes.length === 0} onClick={() => setChanges([])}>
          Clear
        </button>
      </p>
      {error !== null && <ErrorBox error={error} />}
      {changes.length === 0 ? (
        <Empty>No changes since this page was opened. Save an entity to see what it changes.</Empty>
      ) : (
        <Table
          label="Changes, latest first"
          heads={[{ name: 'When' }, { name: 'What' }, { name: 'View' }, { name: 'Served at' }]}
          rows={changes.map(({ id, at, action, urls, handles }) => [
            <Time key="at" at={at} />,
            <State key="action" means={action === 'set' ? 'accent' : 'bad'}>
              {action}
            </State>,
            <ViewLink key="view" id={id} />,
            <span key="served">
              {urls.map((url) => (
                <a key={url} href={urlHref(url, environment)}>
                  {url}{' '}
                </a>
              ))}
              {handles.join(', ')}
            </span>,
          ])}
        />
      )}
    </section>
  );
}

interface Follower {
  onChange(change: Change): void;
  /** Called when the connection is open. */
  onOpen(): void;
  /** Called when the connection fails or is closed. It is retried, except after a 4xx response. */
  onError(error: RequestError): void;
}

const reconnectMs = 3000;
/** The server sends a comment every 15 s. */
const silenceMs = 45_000;

/**
 * Follows from now on until the signal is aborted. After a reconnect, missed changes are delivered. It uses fetch, because
 * `EventSource` cannot send a key.
 */
async function follow(environment: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let since = 'now';
  while (!signal.aborted) {
    try {
      const path = withParameters('/changes', { environment, live: 'sse', since });
      const { body } = await send(path, { signal });
      follower.onOpen();
      for await (const { id, event, data } of body === null ? [] : eventsOf(body, silenceMs)) {
        if (id !== '') since = id;
        if (event === 'change') follower.onChange(JSON.parse(data));
      }
      throw new RequestError(0, 'The connection was closed.');
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof RequestError ? error : new RequestError(0, 'The connection broke.');
      follower.onError(failure);
      if (failure.status === 410) since = 'now';
      else if (failure.status >= 400 && failure.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectMs));
  }
}
