import { useEffect, useState } from 'preact/hooks';
import type { UrlExplained } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { Empty } from '../parts/empty.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Loading } from '../parts/loading.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { ViewLink } from '../parts/view-name.tsx';
import { pageHref } from '../shell/addresses.ts';
import { go, usePlace } from '../shell/place.ts';
import { useTenant } from '../shell/tenant.ts';

export function UrlsPage() {
  const { tenant, environment } = useTenant();
  const { search } = usePlace();
  const asked = search.get('url') ?? '';
  const client = search.get('client') ?? '';
  const [url, setUrl] = useState(asked);
  useEffect(() => setUrl(asked), [asked]);
  const clients = tenant.clients.filter((one) => one.environment === environment);
  const { data, error, reload } = useGet<UrlExplained>(
    asked === '' ? null : withParameters('/explain/url', { environment, client, url: asked }),
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    go(pageHref('urls', { url: url.trim(), client }));
  };
  return (
    <>
      <PageHead title="URLs" about="Type a URL, and see step by step what is answered there, and why." />
      <form class="find" onSubmit={submit}>
        <label for="url">URL</label>
        <input
          id="url"
          type="text"
          inputMode="url"
          placeholder="/path or https://host/path"
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        {clients.length > 1 && (
          <select
            aria-label="As which client"
            value={client}
            onChange={({ currentTarget }) =>
              go(pageHref('urls', { url: asked, client: currentTarget.value }))
            }
          >
            <option value="">first client</option>
            {clients.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <button type="submit">Explain</button>
      </form>
      {asked === '' && <Empty>Paste a URL of your site, with or without its host.</Empty>}
      {error !== null && <ErrorBox error={error} retry={reload} />}
      {asked !== '' && data === null && error === null && <Loading />}
      {data !== null && <Explained explained={data} />}
    </>
  );
}

const answerTexts = {
  200: 'a page is served',
  301: 'a redirect is served',
  404: 'nothing is served',
} as const;

function Explained({ explained: { steps, claims, answer } }: { readonly explained: UrlExplained }) {
  const served = claims.find((claim) => claim.served);
  return (
    <>
      <p class="verdict" role="status">
        <State means={answer === 404 ? 'bad' : answer === 301 ? 'accent' : 'good'}>{answer}</State>{' '}
        {answerTexts[answer]}
        {served !== undefined && (
          <>
            : <ViewLink id={served.viewId} />
          </>
        )}
      </p>
      <section>
        <h2>Steps</h2>
        <ol class="steps">
          {steps.map(({ step, result }, at) => (
            <li key={at}>
              <strong>{step}</strong>
              <span>{result}</span>
            </li>
          ))}
        </ol>
      </section>
      <section>
        <h2>Claims, best first</h2>
        {claims.length === 0 ? (
          <Empty>
            No view claims this URL. A view gets its URL from <code>route.url</code> in its schema.
          </Empty>
        ) : (
          <Table
            label="Claims"
            heads={[
              { name: 'View' },
              { name: 'Kind' },
              { name: 'Since' },
              { name: 'Served' },
              { name: 'Because' },
            ]}
            rows={claims.map(({ viewId, kind, since, served, because }) => [
              <ViewLink key="view" id={viewId} />,
              kind,
              <Time key="since" at={since} />,
              <State key="served" means={served ? 'good' : 'quiet'}>
                {served ? 'served' : 'not served'}
              </State>,
              because,
            ])}
          />
        )}
      </section>
    </>
  );
}
