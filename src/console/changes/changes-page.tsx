import { useEffect, useState } from 'preact/hooks';
import type { Change } from '../api/answers.ts';
import type { RequestError } from '../api/request.ts';
import { urlHref } from '../parts/addresses.ts';
import { Time } from '../parts/format.tsx';
import { Empty, ErrorBox, State } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { ViewLink } from '../parts/view-links.tsx';
import { follow } from './follow.ts';
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
